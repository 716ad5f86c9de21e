import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import { openPool, transaction } from '@app/platform/postgres/pool.js';
import { startPostgres, type StartedPostgres } from '../../../../test/support/index.js';
import { streamId } from '../core/stream-name.js';
import { command, processConsumer, statement, defineProcess } from '../processes/process.js';
import { StoreUnavailable } from '../store/errors.js';
import type { EventStore } from '../store/event-store.js';
import { InMemoryEventStore } from '../testing/in-memory-event-store.js';
import { intercept } from '../testing/intercepted-store.js';
import { addedToAppend, tallyEvents, totalView } from '../testing/tally.js';
import { CheckpointMoved, advance, intervene, loadCheckpoint } from './checkpoint.js';
import type { Consumer } from './consumer.js';
import { parkedStreams } from './handle-batch.js';
import { defineProjection, projectionConsumer } from './projection.js';
import { runConsumer, type RunnerOptions } from './runner.js';
import { sql } from './statement.js';

let postgres: StartedPostgres;
let pool: pg.Pool;
let store: InMemoryEventStore;
let running: { stop(): Promise<void> }[] = [];
let logged: { level: string; message: string; reason: unknown }[] = [];

beforeAll(async () => {
  postgres = await startPostgres();
  pool = openPool(postgres.databaseUrl, {
    size: 8,
    applicationName: 'runner spec',
    onError: () => undefined,
  });
  await pool.query(`create table total (stream text primary key, sum integer not null, revision numeric not null);
    create table applied (nr serial primary key, event_id text not null)`);
});

afterAll(async () => {
  await pool.end();
  await postgres.stop();
});

beforeEach(() => {
  store = new InMemoryEventStore();
  logged = [];
});

afterEach(async () => {
  await Promise.all(running.map((one) => one.stop()));
  running = [];
  await pool.query('truncate total, applied, event_sourcing.consumer, event_sourcing.parked_event');
});

const start = (consumer: Consumer, changes: Partial<RunnerOptions> = {}): { stop(): Promise<void> } => {
  const abort = new AbortController();
  const note = (level: string) => (details: object, message: string) =>
    void logged.push({ level, message, reason: (details as { reason?: unknown }).reason });
  const options = {
    store,
    pool,
    log: { warn: note('warn'), error: note('error') },
    poisonAttempts: 2,
    ...changes,
  };
  const done = runConsumer(consumer, options, abort.signal);
  const started = {
    stop: async () => {
      abort.abort();
      await done;
    },
  };
  running.push(started);
  return started;
};

const eventually = async (holds: () => Promise<boolean>): Promise<void> => {
  const deadline = Date.now() + 20_000;
  while (!(await holds().catch(() => false))) {
    if (Date.now() > deadline) throw new Error(`It never came to be. Logged: ${JSON.stringify(logged)}`);
    await delay(20);
  }
};

const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
let appended = 0;
/** Appends one event of amount 1 to each stream named, in that order. */
const append = async (...ids: readonly string[]): Promise<void> => {
  for (const id of ids) {
    const stream = `tally-${id}`;
    const before = store.log.filter((event) => event.stream === stream).length;
    appended += 1;
    await store.append(stream, before === 0 ? 'no_stream' : BigInt(before - 1), [
      addedToAppend(uuid(appended), `r${appended}`),
    ]);
  }
};

const checkpoint = async (name: string) => {
  const { rows } = await pool.query<{ position: string; status: string; error: string | null }>(
    'select position, status, error from event_sourcing.consumer where name = $1',
    [name],
  );
  return rows[0];
};
const caughtUp = (name: string) =>
  eventually(async () => (await checkpoint(name))?.position === String(await store.head()));

const totals = async (): Promise<Record<string, number>> => {
  const { rows } = await pool.query<{ stream: string; sum: number }>(
    'select stream, sum from total order by stream',
  );
  return Object.fromEntries(rows.map(({ stream, sum }) => [streamId(stream), sum]));
};
const appliedIds = async (): Promise<string[]> =>
  (await pool.query<{ event_id: string }>('select event_id from applied order by nr')).rows.map(
    (row) => row.event_id,
  );
const logIds = () => store.log.map(({ id }) => id);

/** A view guarded by revision, as every projection has to be. */
const summing = (effects: (stream: string) => readonly ReturnType<typeof sql>[] = () => []): Consumer =>
  projectionConsumer(
    defineProjection({
      name: 'tally.total.v1',
      catalogues: [tallyEvents],
      views: [totalView],
      effects: ({ stream }) => effects(stream),
    }),
  );

/** A consumer that would count an event twice, were it applied twice. */
const recording: Consumer = {
  name: 'tally.applied',
  categories: ['tally'],
  birth: 'beginning',
  onPoison: 'halt',
  steps: (events) => events.map(({ id }) => sql`insert into applied (event_id) values (${id})`),
};

describe('a checkpoint beyond the end of the log', () => {
  it('keeps its consumer from starting, which says why', async () => {
    await append('a');
    await pool.query(
      `insert into event_sourcing.consumer (name, position, categories) values ('tally.applied', 1000, '{tally}')`,
    );
    start(recording);
    await eventually(async () =>
      logged.some(
        ({ level, reason }) => level === 'error' && /at 1000, beyond the end of the log/.test(String(reason)),
      ),
    );
    await append('b', 'c');
    expect(await appliedIds()).toEqual([]);
    await pool.query(`update event_sourcing.consumer set position = 100 where name = 'tally.applied'`);
    await eventually(async () => (await appliedIds()).length === 2);
    expect(await appliedIds()).toEqual(logIds().slice(1));
  });
});

describe('a consumer', () => {
  it('applies history, then what is appended, and records how far it came', async () => {
    await append('a', 'b', 'a');
    start(summing());
    await caughtUp('tally.total.v1');
    await append('b', 'b');
    await caughtUp('tally.total.v1');
    expect(await totals()).toEqual({ a: 2, b: 3 });
    expect(await checkpoint('tally.total.v1')).toEqual({ position: '500', status: 'running', error: null });
  });

  it('resumes from its checkpoint', async () => {
    await append('a', 'b');
    const first = start(recording);
    await caughtUp(recording.name);
    await first.stop();
    await append('c');
    start(recording);
    await caughtUp(recording.name);
    expect(await appliedIds()).toEqual(logIds());
  });

  it('gives the same rows when everything is delivered once more', async () => {
    await append('a', 'b', 'a', 'c', 'a');
    const first = start(summing(), { batchSize: 2 });
    await caughtUp('tally.total.v1');
    await first.stop();
    const rows = (await pool.query('select * from total order by stream')).rows;
    await pool.query('update event_sourcing.consumer set position = null');
    start(summing(), { batchSize: 3 });
    await caughtUp('tally.total.v1');
    expect((await pool.query('select * from total order by stream')).rows).toEqual(rows);
    expect(await totals()).toEqual({ a: 3, b: 1, c: 1 });
  });

  it('that was born now does not fire the effects of history', async () => {
    await append('a', 'b');
    const seen: string[] = [];
    const born: Consumer = {
      ...recording,
      birth: 'now',
      dispatch: async (events) => void seen.push(...events.map(({ id }) => id)),
    };
    start(born);
    await eventually(async () => (await checkpoint(born.name)) !== undefined);
    await append('c');
    await caughtUp(born.name);
    expect(seen).toEqual([logIds()[2]]);
  });

  it('applies each event exactly once when two runners run it at the same time', async () => {
    await append(...Array.from({ length: 40 }, (_, index) => `s${index % 7}`));
    start(recording, { batchSize: 5 });
    start(recording, { batchSize: 3 });
    await append(...Array.from({ length: 40 }, (_, index) => `s${index % 7}`));
    await caughtUp(recording.name);
    expect(await appliedIds()).toEqual(logIds());
  });

  it('handles a batch event by event when a statement of it fails, and loses none', async () => {
    let failures = 1;
    const flaky: Consumer = {
      ...recording,
      steps: (events) => {
        if (events.length > 1 && failures > 0) {
          failures -= 1;
          return [...recording.steps(events), sql`select 1 / 0`];
        }
        return recording.steps(events);
      },
    };
    await append('a', 'b', 'c');
    start(flaky);
    await caughtUp(flaky.name);
    expect(failures).toBe(0);
    expect(await appliedIds()).toEqual(logIds());
  });

  it('goes on after its connections to Postgres were killed', async () => {
    await append('a');
    start(recording);
    await caughtUp(recording.name);
    for (let round = 0; round < 3; round += 1) {
      await pool.query(
        `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'runner spec' and pid <> pg_backend_pid()`,
      );
      await append('a', 'b');
    }
    await caughtUp(recording.name);
    expect(await appliedIds()).toEqual(logIds());
  });

  it('opens again a subscription that breaks', async () => {
    await append('a', 'b', 'c');
    let broken = 0;
    const breaking = intercept(store, {
      subscribe: (request) => {
        const subscription = store.subscribe(request);
        if (broken >= 2) return subscription;
        broken += 1;
        return {
          async *[Symbol.asyncIterator]() {
            for await (const event of subscription) {
              yield event;
              throw new StoreUnavailable('connection lost', false);
            }
          },
          close: () => subscription.close(),
        };
      },
    });
    start(recording, { store: breaking });
    await caughtUp(recording.name);
    expect(broken).toBe(2);
    expect(await appliedIds()).toEqual(logIds());
    expect(logged.every(({ level }) => level === 'warn')).toBe(true);
  });

  it('opens again a subscription that says nothing while the log grows', async () => {
    await append('a');
    let opened = 0;
    const mute: EventStore = intercept(store, {
      subscribe: (request) => {
        opened += 1;
        if (opened > 1) return store.subscribe(request);
        let wake = (): void => undefined;
        const closed = new Promise<void>((resolve) => (wake = resolve));
        return {
          async *[Symbol.asyncIterator]() {
            await closed;
            yield* [];
          },
          close: async () => wake(),
        };
      },
    });
    start(recording, { store: mute, watchdogMs: 50 });
    await caughtUp(recording.name);
    expect(opened).toBe(2);
    expect(await appliedIds()).toEqual(logIds());
  });

  it('moves past what it does not follow, so that a quiet consumer does not fall behind', async () => {
    await store.append('other-1', 'no_stream', [
      addedToAppend(uuid(900_001), 'x'),
      addedToAppend(uuid(900_002), 'y'),
    ]);
    start(recording, { watchdogMs: 50 });
    await eventually(async () => (await checkpoint(recording.name))?.position === '200');
    expect(await appliedIds()).toEqual([]);
  });

  it('ends when it is told to, and lets its subscription go', async () => {
    let closed = 0;
    const watched = intercept(store, {
      subscribe: (request) => {
        const subscription = store.subscribe(request);
        return {
          [Symbol.asyncIterator]: () => subscription[Symbol.asyncIterator](),
          close: async () => {
            closed += 1;
            await subscription.close();
          },
        };
      },
    });
    await append('a');
    const one = start(recording, { store: watched });
    await caughtUp(recording.name);
    await one.stop();
    expect(closed).toBe(1);
  });
});

describe('an event that cannot be applied', () => {
  const poisoned = (state: { mended: boolean }) =>
    summing((stream) => (stream === 'tally-bad' && !state.mended ? [sql`select 1 / 0`] : []));

  it('is parked by a view, with its successors, while every other stream goes on', async () => {
    await append('a', 'bad', 'b', 'bad', 'a');
    start(poisoned({ mended: false }));
    await caughtUp('tally.total.v1');
    await append('bad', 'a');
    await caughtUp('tally.total.v1');
    expect(await totals()).toEqual({ a: 3, b: 1 });
    const { rows } = await pool.query<Record<string, string>>(
      'select position, stream, event_id, event_type from event_sourcing.parked_event order by position',
    );
    expect(rows).toEqual(
      store.log
        .filter(({ stream }) => stream === 'tally-bad')
        .map(({ position, stream, id, type }) => ({
          position: String(position),
          stream,
          event_id: id,
          event_type: type,
        })),
    );
    expect(rows).toHaveLength(3);
    expect(logged.filter(({ message }) => /poison/.test(message))).toHaveLength(1);
  });

  it('stays parked after a restart: its successors are not applied without it', async () => {
    await append('bad');
    const state = { mended: false };
    const first = start(poisoned(state));
    await caughtUp('tally.total.v1');
    await first.stop();
    state.mended = true;
    await append('bad', 'a');
    start(poisoned(state));
    await caughtUp('tally.total.v1');
    expect(await totals()).toEqual({ a: 1 });
  });

  it('halts a consumer that may skip nothing, until it can be handled', async () => {
    const state = { mended: false };
    const halting: Consumer = { ...poisoned(state), onPoison: 'halt' };
    await append('a', 'bad', 'b');
    start(halting);
    await eventually(async () => (await checkpoint(halting.name))?.status === 'halted');
    expect(await checkpoint(halting.name)).toMatchObject({
      position: '100',
      error: expect.stringMatching(/^tally-bad@0 Added: SQLSTATE 22012$/),
    });
    expect(await totals()).toEqual({ a: 1 });
    state.mended = true;
    await caughtUp(halting.name);
    expect(await totals()).toEqual({ a: 1, b: 1, bad: 1 });
    expect(await checkpoint(halting.name)).toMatchObject({ status: 'running', error: null });
  });

  it.each(['halt', 'park'] as const)(
    'stops nothing (%s) once another worker has handled it, and the one that could not goes on behind it',
    async (onPoison) => {
      let newer: { stop(): Promise<void> } | undefined;
      const older: Consumer = {
        ...recording,
        onPoison,
        async dispatch(events) {
          if (events.every(({ stream }) => stream !== 'tally-new')) return;
          newer ??= start({ ...recording, onPoison });
          await caughtUp(recording.name);
          throw new RangeError('unknown to the older program');
        },
      };
      await append('a', 'new', 'b');
      start(older, { batchSize: 1 });
      await eventually(async () => logged.some(({ message }) => message.startsWith('consumer interrupted')));
      expect(logged.map(({ level }) => level)).toEqual(['warn']);
      expect(await checkpoint(recording.name)).toMatchObject({ status: 'running', error: null });
      expect(await parkedStreams(pool, older)).toEqual(new Set());
      await newer!.stop();
      await append('c');
      await caughtUp(recording.name);
      expect(await appliedIds()).toEqual(logIds());
    },
  );
});

describe('a process', () => {
  it('carries out commands at least once and statements exactly once, whatever fails on the way', async () => {
    const reacting = defineProcess({
      name: 'tally.process',
      catalogues: [tallyEvents],
      react: ({ id }) => [command(id), statement(sql`insert into applied (event_id) values (${id})`)],
    });
    const dispatched: string[] = [];
    let failures = 4;
    const consumer = processConsumer(reacting, async (id) => {
      dispatched.push(id);
      if (failures > 0) {
        failures -= 1;
        throw new RangeError('not yet');
      }
    });
    await append('a', 'b', 'c');
    start(consumer);
    await caughtUp(consumer.name);
    expect(failures).toBe(0);
    expect(new Set(dispatched)).toEqual(new Set(logIds()));
    expect(await appliedIds()).toEqual(logIds());
  });
});

describe('a checkpoint', () => {
  const name = 'tally.checkpoint';
  const at = (position: bigint | null) => ({ position, epoch: 0n });
  const consumer: Consumer = { ...recording, name };

  it('keeps positions that no double can hold', async () => {
    const positions = [2n ** 53n - 1n, 2n ** 53n, 2n ** 53n + 1n, 2n ** 64n - 1n];
    let from = await loadCheckpoint(pool, consumer, async () => null);
    expect(from).toEqual(at(null));
    for (const position of positions) {
      await advance(pool, consumer, from, position, []);
      from = await loadCheckpoint(pool, consumer, async () => null);
      expect(from.position).toBe(position);
    }
    // A neighbour that a double would take for the same.
    await advance(pool, consumer, from, 2n ** 53n, []);
    await expect(advance(pool, consumer, at(2n ** 53n + 1n), 1n, [])).rejects.toThrow(CheckpointMoved);
  });

  it('compares as numbers: 9 < 10 < 11', async () => {
    const parked = 'insert into event_sourcing.parked_event values ($1, $2, $3, $4, $5, $6)';
    for (const position of ['10', '9', '11'])
      await pool.query(parked, [name, position, 's', uuid(1), 'T', 'e']);
    const { rows } = await pool.query(
      'select position from event_sourcing.parked_event where consumer = $1 order by position',
      [name],
    );
    expect(rows).toEqual([{ position: '9' }, { position: '10' }, { position: '11' }]);
  });

  it('moves with the rows or not at all', async () => {
    await loadCheckpoint(pool, consumer, async () => null);
    const insert = sql`insert into applied (event_id) values ('x')`;
    await expect(advance(pool, consumer, at(null), 1n, [insert, sql`select 1 / 0`])).rejects.toThrow(
      'division by zero',
    );
    await expect(advance(pool, consumer, at(7n), 8n, [insert])).rejects.toThrow(CheckpointMoved);
    expect(await appliedIds()).toEqual([]);
    expect(await loadCheckpoint(pool, consumer, async () => null)).toEqual(at(null));
    await advance(pool, consumer, at(null), 1n, [insert]);
    expect(await appliedIds()).toEqual(['x']);
  });

  it('is given up by its runner when an operator intervened', async () => {
    const before = await loadCheckpoint(pool, consumer, async () => null);
    await transaction(pool, (client) => intervene(client, name));
    await expect(advance(pool, consumer, before, 1n, [])).rejects.toThrow(CheckpointMoved);
    const after = await loadCheckpoint(pool, consumer, async () => null);
    await advance(pool, consumer, after, 1n, []);
  });

  it('lets one of two rivals win', async () => {
    await loadCheckpoint(pool, consumer, async () => null);
    const rival = (id: string) =>
      advance(pool, consumer, at(null), 5n, [sql`insert into applied (event_id) values (${id})`]);
    const results = await Promise.allSettled([rival('x'), rival('y')]);
    expect(results.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    expect(await appliedIds()).toHaveLength(1);
  });
});
