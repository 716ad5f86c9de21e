import type { Cut, Life, Scheduler, Server } from './scheduler.js';
import type { EventToAppend } from '#event-sourcing/core/event.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import type { AppendResult, EventStore, ExpectedRevision } from '#event-sourcing/store/event-store.js';
import type { InMemoryEventStore } from '#event-sourcing/testing/in-memory-event-store.js';
import type { Pool, QueryConfig, QueryResult } from 'pg';
import { type Asked, type SimulatedPostgres, rowsOf, type Contents } from './postgres.js';

/** How long a process waits for an answer that does not come (ms). */
const GIVES_UP_MS = [500, 2_500] as const;
/** Probability that a process is cut from one of its servers while it runs. The other one it reaches. */
const PARTITIONED = 0.4;
const PARTITIONED_WITHIN_MS = 30_000;
const LASTS_MS = [300, 45_000] as const;

/** A call of a process to a server. */
export interface Call<T> {
  readonly label: string;
  readonly effect: () => T | Promise<T>;
  /** What the process finds when no answer comes. It cannot know whether the call took effect. */
  readonly gone: () => Error;
  readonly kind?: 'read' | 'write';
}

/** Whether a server's answers do not reach the process, nor what it sends unasked. */
export const isDeaf = ({ isRough }: Scheduler, { cuts }: Life, server: Server): boolean =>
  isRough && cuts.get(server) === 'answers';

/** Carries out a call. Over a cut network its request is lost, or takes effect and the answer is lost. */
export const callOver = <T>(
  scheduler: Scheduler,
  life: Life,
  server: Server,
  { label, effect, gone, kind }: Call<T>,
): Promise<T> =>
  scheduler.io(
    life,
    label,
    async () => {
      const cut = scheduler.isRough ? life.cuts.get(server) : undefined;
      if (cut === undefined) return effect();
      scheduler.unanswered += 1;
      if (cut === 'answers')
        await Promise.resolve()
          .then(effect)
          .catch(() => undefined);
      await scheduler.sleep(scheduler.random.between(...GIVES_UP_MS));
      throw gone();
    },
    kind,
  );

/** Plans a partition: for a while the process does not reach one of its servers, or does not hear it. */
export const maybePartition = (scheduler: Scheduler, { name, cuts }: Life): void => {
  const { random } = scheduler;
  if (!random.chance(PARTITIONED)) return;
  const server = random.pick<Server>(['eventStore', 'postgres']);
  const cut = random.pick<Cut>(['requests', 'answers']);
  scheduler.after(random.between(1, PARTITIONED_WITHIN_MS), `${name} loses ${cut} at ${server}`, () => {
    cuts.set(server, cut);
    scheduler.after(random.between(...LASTS_MS), `${name} has ${server} again`, () => cuts.delete(server));
  });
};

/** What can go wrong with an append, and its probability. */
const UNHEARD = 0.02;
const LOST = 0.02;
const LATE = 0.02;
const REFUSED = 0.01;
const LATE_WITHIN_MS = 120_000;
const READ_FAILS = 0.01;

/** Appends still on their way, although their writer already got the error of an unknown outcome. */
export interface OnTheWay {
  count: number;
}

/**
 * The event store as one process sees it. A failed append may have been written, or not, or be written much later. Reads
 * may fail.
 */
export const faultyStore = (
  store: InMemoryEventStore,
  scheduler: Scheduler,
  life: Life,
  onTheWay: OnTheWay,
): EventStore => {
  const { random } = scheduler;
  const strikes = (probability: number): boolean => scheduler.isRough && random.chance(probability);
  const unknown = (stream: string) => new StoreUnavailable(`no answer to append to ${stream}`, true);
  const silent = () => new StoreUnavailable('no answer', false);
  const call = <T>(asked: Call<T>): Promise<T> => callOver(scheduler, life, 'eventStore', asked);
  const look = <T>(label: string, effect: Call<T>['effect']): Promise<T> =>
    call({ label, effect, gone: silent });

  const append = async (
    stream: string,
    expected: ExpectedRevision,
    events: readonly EventToAppend[],
  ): Promise<AppendResult> => {
    if (strikes(REFUSED)) throw new StoreUnavailable('not ready', false);
    if (strikes(LOST)) throw unknown(stream);
    if (strikes(LATE)) {
      onTheWay.count += 1;
      scheduler.after(random.between(1, LATE_WITHIN_MS), `late append to ${stream}`, () => {
        onTheWay.count -= 1;
        store.append(stream, expected, events).catch(() => undefined);
      });
      throw unknown(stream);
    }
    const result = await store.append(stream, expected, events);
    if (strikes(UNHEARD)) throw unknown(stream);
    return result;
  };

  return {
    append: (stream, expected, events) => {
      const label = `append ${events.map(({ type }) => type).join('+')} to ${stream}`;
      const effect = () => append(stream, expected, events);
      return call({ label, effect, gone: () => unknown(stream), kind: 'write' });
    },
    async *read(stream, options) {
      const found = await look(`read ${stream}`, async () => {
        if (strikes(READ_FAILS)) throw new StoreUnavailable('not reachable', false);
        return collect(store.read(stream, options));
      });
      yield* found;
    },
    async *readAll(options) {
      yield* await look('read the log', () => collect(store.readAll(options)));
    },
    serverTime: () => store.serverTime(),
    subscribe: () => {
      throw new TypeError('The simulation follows the log by reading it');
    },
    head: () => look('head', () => store.head()),
    end: () => look('end', () => store.end()),
    close: async () => undefined,
  };
};

const collect = async <T>(items: AsyncIterable<T>): Promise<T[]> => {
  const all: T[] = [];
  for await (const item of items) all.push(item);
  return all;
};

const COMMIT_UNHEARD = 0.01;
const COMMIT_LOST = 0.01;
const COMMIT_LATE = 0.01;
const COMMITS_WITHIN_MS = 60_000;

/** What a process finds when its connection to PostgreSQL breaks. */
export const brokenConnection = (): Error =>
  Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' });

const NOTHING = { rows: [], rowCount: 0 };

const statementOf = (asked: Asked, values?: unknown[]): QueryConfig =>
  typeof asked === 'string' ? { text: asked, ...(values && { values }) } : asked;

/** A pool without faults, for what looks from outside. */
export const plainPool = (postgres: SimulatedPostgres): Pool =>
  ({
    query: (asked: Asked, values?: unknown[]) => postgres.run(statementOf(asked, values)),
  }) as unknown as Pool;

/**
 * The connection pool of one process. Statements of a transaction take effect together at its commit. A commit that is
 * reported as failed may have taken effect or not, or take effect much later.
 */
export const simulatedPool = (
  postgres: SimulatedPostgres,
  scheduler: Scheduler,
  life: Life,
  onTheWay: OnTheWay,
): Pool => {
  const strikes = (probability: number): boolean => scheduler.isRough && scheduler.random.chance(probability);
  const call = <T>(label: string, effect: () => Promise<T>): Promise<T> => {
    const kind = label.startsWith('select') ? 'read' : 'write';
    return callOver(scheduler, life, 'postgres', { label, effect, gone: brokenConnection, kind });
  };

  const query = (asked: Asked, values?: unknown[]): Promise<QueryResult> => {
    const statement = statementOf(asked, values);
    return call(firstWords(statement.text), () => postgres.run(statement));
  };

  /** As after lost packets: the process has given up, and the server receives its commit. */
  const commitLater = (commit: () => Promise<void>): void => {
    onTheWay.count += 1;
    const { losses } = postgres;
    scheduler.after(scheduler.random.between(1, COMMITS_WITHIN_MS), 'late commit', () => {
      onTheWay.count -= 1;
      // Another transaction may have been first.
      if (postgres.losses === losses) commit().catch(() => undefined);
    });
  };

  const connect = async () => {
    let done: { statement: QueryConfig; touched: number | null }[] = [];
    let { losses } = postgres;
    return {
      release: () => undefined,
      query: async (asked: Asked, values?: unknown[]) => {
        const statement = statementOf(asked, values);
        if (statement.text === 'rollback' || statement.text.startsWith('begin')) {
          done = [];
          ({ losses } = postgres);
          return NOTHING;
        }
        if (statement.text !== 'commit') {
          const answer = await postgres.try(done, statement);
          done.push({ statement, touched: answer.rowCount });
          return answer;
        }
        const commit = () => postgres.commit(done);
        return call(`commit ${done.length} statements`, async () => {
          if (strikes(COMMIT_LOST) || postgres.losses !== losses) throw brokenConnection();
          if (strikes(COMMIT_LATE)) {
            commitLater(commit);
            throw brokenConnection();
          }
          await commit();
          if (strikes(COMMIT_UNHEARD)) throw brokenConnection();
          return NOTHING;
        });
      },
    };
  };
  return { query, connect } as unknown as Pool;
};

const firstWords = (text: string): string => text.trim().split(/\s+/, 4).join(' ');

/** Probability that PostgreSQL loses its last writes once. */
const LOSES = 0.3;
const LOSES_WITHIN_MS = 40_000;
/** How far an asynchronous standby is behind (ms). */
const BEHIND_MS = [5, 5_000] as const;

/** What was gone with the last writes of PostgreSQL, and nothing can make again. */
export interface Lost {
  /** The readings whose keys are gone. */
  readonly keys: Set<string>;
  /** The documents whose rows are gone, as {@link placeOf} names them. */
  readonly artifacts: Set<string>;
}

/** PostgreSQL goes back to an earlier state, as after the promotion of an asynchronous standby. The event store does not. */
export const maybeLoseSuffix = (scheduler: Scheduler, postgres: SimulatedPostgres): Lost => {
  const lost: Lost = { keys: new Set(), artifacts: new Set() };
  const { random } = scheduler;
  if (!random.chance(LOSES)) return lost;
  const lose = async (kept: Contents): Promise<void> => {
    const gone = await postgres.copy();
    const keys = new Set(rowsOf(kept, 'platform.subject_key').map((row) => row['wrapped_key']));
    for (const { subject_id: id, wrapped_key: key } of rowsOf(gone, 'platform.subject_key'))
      if (!keys.has(key)) lost.keys.add(id as string);
    const places = new Set(rowsOf(kept, 'publishing.artifact').map(placeOf));
    for (const place of rowsOf(gone, 'publishing.artifact').map(placeOf))
      if (!places.has(place)) lost.artifacts.add(place);
    await postgres.goBackTo(kept);
  };
  scheduler.after(random.between(1, LOSES_WITHIN_MS), 'the standby falls behind', () => {
    if (!scheduler.isRough) return;
    void postgres.copy().then((kept) => {
      const behind = random.between(...BEHIND_MS);
      scheduler.after(behind, 'PostgreSQL loses its last writes', () => void lose(kept));
    });
  });
  return lost;
};

/** A document by its reading, version and format. */
export const placeOf = (row: Readonly<Record<string, unknown>>): string =>
  [row['reading_id'], row['version'], row['format']].join('|');
