import { afterEach, beforeAll, beforeEach } from '@jest/globals';
import type pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import { holdCheckpoint, transaction } from '../checkpoint.js';
import { defineProjection, projectionConsumer, type Projection } from '../projection.js';
import { versionsOf, type Workshop } from '../rebuild.js';
import { sql } from '../statement.js';
import { tallyEvents, totalView } from '../../testing/tally.js';
import { PATIENCE_MS, consumersUnderTest } from './consumers-under-test.js';

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

/** Ids of the given number of events, in seven streams. */
export const many = (count: number) => Array.from({ length: count }, (_, index) => `s${index % 7}`);

const quiet = { warn: () => undefined, error: () => undefined };

/** Consumers under test, with a live projection and the workshop that rebuilds it. */
export const rebuildsUnderTest = () => {
  const under = consumersUnderTest();
  const { pool } = under;
  let workshop: Workshop;

  beforeAll(async () => {
    await pool.query(`create table effect (id text not null);
      create table flagged (stream text primary key, sum integer not null, revision numeric not null, flag boolean not null)`);
  });

  beforeEach(async () => {
    workshop = { pool, store: under.store, log: quiet, program: 'this build' };
    await pool.query(`drop table total;
      create table total (stream text primary key, sum integer not null check (sum >= 0), revision numeric not null);
      create index total_by_sum on total (sum) where sum > 2`);
  });

  // After the consumers have been stopped.
  afterEach(async () => {
    for (const { version } of await versionsOf(pool, totals))
      await pool.query(`drop table if exists total__v${version}`);
    await pool.query(`drop table if exists flagged__v2;
      truncate effect, flagged, event_sourcing.projection_version`);
  });

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
      return under.store;
    },
    get workshop() {
      return workshop;
    },
    append: under.append,
    goLive: (projection: Projection = totals) =>
      void under.start(projectionConsumer(projection), { poisonAttempts: 1 }),
    liveCaughtUp: () => under.caughtUp(NAME),
    dump,
    waiting,
    holdLive,
    whileHeld,
    consumers,
    states,
  };
};
