import { afterEach, beforeAll, beforeEach } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { testPool } from '../../../../../test/support/test-pool.js';
import { streamId } from '../../core/stream-name.js';
import { InMemoryEventStore } from '../../testing/in-memory-event-store.js';
import { addedToAppend, tallyEvents, totalView } from '../../testing/tally.js';
import type { Consumer } from '../consumer.js';
import { defineProjection, projectionConsumer } from '../projection.js';
import { runConsumer, type RunnerOptions } from '../runner.js';
import { sql } from '../statement.js';

/** How long a test waits for an event without a promised time: after failures, a consumer pauses for up to 15 s. */
export const PATIENCE_MS = 60_000;

export const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** One consumer that runs until it is stopped. */
export interface RunningConsumer {
  stop(): Promise<void>;
}

interface LogLine {
  readonly level: string;
  readonly message: string;
  readonly reason: unknown;
}

/**
 * Runs consumers on a PostgreSQL of their own and an in-memory log. Every case begins with empty tables and an empty log,
 * and ends with all its consumers stopped. The members are available only within tests.
 */
export const consumersUnderTest = () => {
  const pool = testPool();
  let store: InMemoryEventStore;
  let running: RunningConsumer[] = [];
  let logged: LogLine[] = [];

  beforeAll(async () => {
    await pool.query(`create table total (stream text primary key, sum integer not null, revision numeric not null);
      create table applied (nr serial primary key, event_id text not null)`);
  });

  beforeEach(() => {
    store = new InMemoryEventStore();
    logged = [];
  });

  afterEach(async () => {
    await Promise.all(running.map((one) => one.stop()));
    running = [];
    await pool.query('truncate total, applied, event_sourcing.consumer, event_sourcing.parked_stream');
  });

  const start = (consumer: Consumer, changes: Partial<RunnerOptions> = {}): RunningConsumer => {
    const abort = new AbortController();
    const note = (level: string) => (details: object, message: string) =>
      void logged.push({ reason: undefined, ...details, level, message });
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
    const deadline = Date.now() + PATIENCE_MS;
    while (!(await holds().catch(() => false))) {
      if (Date.now() > deadline)
        throw new Error(`It did not happen in time. Logged: ${JSON.stringify(logged)}`);
      await delay(20);
    }
  };

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

  return {
    get store() {
      return store;
    },
    pool,
    /** What the runners logged in this case. */
    get logged() {
      return logged;
    },
    start,
    eventually,
    append,
    checkpoint,
    caughtUp,
    totals,
    appliedIds,
    logIds,
  };
};

/** A view guarded by revision, as every projection has to be. */
export const summing = (
  effects: (stream: string) => readonly ReturnType<typeof sql>[] = () => [],
): Consumer =>
  projectionConsumer(
    defineProjection({
      name: 'tally.total.v1',
      catalogues: [tallyEvents],
      views: [totalView],
      effects: ({ stream }) => effects(stream),
    }),
  );

/** A consumer that would count an event twice, were it applied twice. */
export const recording: Consumer = {
  name: 'tally.applied',
  categories: ['tally'],
  birth: 'beginning',
  steps: (events) => events.map(({ id }) => sql`insert into applied (event_id) values (${id})`),
};
