import { afterEach, beforeAll, beforeEach } from '@jest/globals';
import type pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import { testPool } from '../../../../../test/support/test-pool.js';
import { holdCheckpoint, transaction } from '../checkpoint.js';
import { defineProjection, projectionConsumer, type Projection } from '../projection.js';
import { runConsumer } from '../runner.js';
import { sql } from '../statement.js';
import { InMemoryEventStore } from '../../testing/in-memory-event-store.js';
import { addedToAppend, tallyEvents, totalView } from '../../testing/tally.js';
import { versionsOf, type Workshop } from '../rebuild.js';

/** The projection that is rebuilt. */
export const NAME = 'tally.total.v1';
export const OPERATOR = { by: 'operator:ada' };

/** The projection; a case may replace its view by a faulty one. */
export const totalsBy = (one: typeof totalView): Projection =>
  defineProjection({
    name: NAME,
    catalogues: [tallyEvents],
    views: [one],
    effects: ({ id }) => [sql`insert into effect values (${id})`],
  });
/** The correct live rows. */
export const totals = totalsBy(totalView);

/** How long a test waits for an event without a promised time. */
const PATIENCE_MS = 60_000;

/** Ids of the given number of events, in seven streams. */
export const many = (count: number) => Array.from({ length: count }, (_, index) => `s${index % 7}`);

const quiet = { warn: () => undefined, error: () => undefined };

/**
 * A live projection of an in-memory log in a PostgreSQL of its own, and the workshop that rebuilds it. Every case begins
 * with empty tables and an empty log. The members are available only within tests.
 */
export const rebuildsUnderTest = () => {
  const pool = testPool();
  let store: InMemoryEventStore;
  let workshop: Workshop;
  let appended = 0;
  let stopLive: (() => Promise<void>) | null = null;

  beforeAll(async () => {
    await pool.query(`create table effect (id text not null);
      create table flagged (stream text primary key, sum integer not null, revision numeric not null, flag boolean not null)`);
  });

  beforeEach(async () => {
    store = new InMemoryEventStore();
    workshop = { pool, store, log: quiet, program: 'this build' };
    await pool.query(`create table total (stream text primary key, sum integer not null check (sum >= 0), revision numeric not null);
      create index total_by_sum on total (sum) where sum > 2`);
  });

  afterEach(async () => {
    await stopLive?.();
    stopLive = null;
    for (const { version } of await versionsOf(pool, totals))
      await pool.query(`drop table if exists total__v${version}`);
    await pool.query(`drop table total; drop table if exists flagged__v2;
      truncate effect, flagged, event_sourcing.consumer, event_sourcing.parked_stream, event_sourcing.projection_version`);
  });

  const uuid = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;
  const append = async (...ids: readonly string[]): Promise<void> => {
    for (const id of ids) {
      const stream = `tally-${id}`;
      const before = store.log.filter((event) => event.stream === stream).length;
      appended += 1;
      const event = addedToAppend(uuid(appended), `r${appended}`);
      await store.append(stream, before === 0 ? 'no_stream' : BigInt(before - 1), [event]);
    }
  };

  const goLive = (projection: Projection = totals): void => {
    const abort = new AbortController();
    const consumer = projectionConsumer(projection);
    const options = { store, pool, log: quiet, poisonAttempts: 1 };
    const done = runConsumer(consumer, options, abort.signal);
    stopLive = async () => {
      abort.abort();
      await done;
    };
  };
  const liveCaughtUp = async (): Promise<void> => {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const { rows } = await pool.query<{ position: string }>(
        `select position from event_sourcing.consumer where name = $1`,
        [NAME],
      );
      if (rows[0]?.position === String(await store.head())) return;
      if (Date.now() > deadline) throw new Error('The live view did not catch up');
      await delay(10);
    }
  };
  const dump = async (table: string): Promise<string[]> =>
    (await pool.query<{ row: string }>(`select t::text as row from ${table} t order by 1`)).rows.map(
      ({ row }) => row,
    );
  /** Waits until this many statements wait for a lock. */
  const waiting = async (count: number): Promise<void> => {
    const deadline = Date.now() + PATIENCE_MS;
    for (;;) {
      const { rowCount } = await pool.query(
        `select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`,
      );
      if (rowCount === count) return;
      if (Date.now() > deadline) throw new Error(`${rowCount} wait instead of ${count}`);
      await delay(10);
    }
  };
  const holdLive = (client: pg.PoolClient): Promise<unknown> => holdCheckpoint(client, NAME);
  /** Does the work while a transaction holds a lock. A promise that waits for the lock must be wrapped, not returned. */
  const whileHeld = <T>(
    hold: (client: pg.PoolClient) => Promise<unknown>,
    work: () => Promise<T>,
  ): Promise<T> =>
    transaction(pool, async (client) => {
      await hold(client);
      return work();
    });
  const consumers = async () =>
    (await pool.query<{ name: string }>('select name from event_sourcing.consumer order by name')).rows.map(
      ({ name }) => name,
    );
  const states = async () =>
    (await versionsOf(pool, totals)).map(({ version, state }) => `${version} ${state}`);

  return {
    pool,
    get store() {
      return store;
    },
    get workshop() {
      return workshop;
    },
    append,
    goLive,
    liveCaughtUp,
    dump,
    waiting,
    holdLive,
    whileHeld,
    consumers,
    states,
  };
};
