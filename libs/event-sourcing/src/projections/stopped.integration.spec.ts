import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import { openPool } from '#platform/postgres/pool.js';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import { consumerLag } from './consumer-lag.js';
import type { Consumer } from './consumer.js';
import { runConsumer } from './runner.js';
import { sql } from './statement.js';
import { InMemoryEventStore } from '../testing/in-memory-event-store.js';
import { AT, addedToAppend } from '../testing/tally.js';
import { requestedBy } from '../core/request-context.js';
import { stoppedStreams } from './parked-streams.js';
import { recordSetAside, withSetAside } from './set-aside.js';

let postgres: StartedPostgres;
let pool: pg.Pool;
let store: InMemoryEventStore;
let appended = 0;
let stop: () => Promise<void> = () => Promise.resolve();
const alerts: object[] = [];

beforeAll(async () => {
  postgres = await freshDatabase();
  pool = openPool(postgres.databaseUrl, { size: 4, applicationName: 'stopped', onError: () => undefined });
  await pool.query('create table applied (nr serial primary key, stream text not null)');
});
afterAll(async () => {
  await pool.end();
  await postgres.stop();
});
beforeEach(() => {
  store = new InMemoryEventStore();
  alerts.length = 0;
});
afterEach(async () => {
  await stop();
  await pool.query('truncate applied, event_sourcing.consumer, event_sourcing.parked_stream');
});

const append = async (...ids: readonly string[]): Promise<void> => {
  for (const id of ids) {
    const stream = `tally-${id}`;
    const before = store.log.filter((event) => event.stream === stream).length;
    const event = addedToAppend(`00000000-0000-4000-8000-${String((appended += 1)).padStart(12, '0')}`, 'r');
    await store.append(stream, before === 0 ? 'no_stream' : BigInt(before - 1), [event]);
  }
};
/** Cannot handle events of `tally-bad`. */
const follower: Consumer = {
  name: 'billing.money.v1',
  categories: ['tally'],
  birth: 'beginning',
  steps: (events) =>
    events.map(({ stream }) => {
      if (stream === 'tally-bad') throw new RangeError('no');
      return sql`insert into applied (stream) values (${stream})`;
    }),
};
const start = (mostParked = 25): void => {
  const abort = new AbortController();
  const log = { warn: () => undefined, error: (details: object) => void alerts.push(details) };
  const options = {
    store: withSetAside(store),
    pool,
    log,
    poisonAttempts: 1,
    mostParked,
    retryParkedMs: 500,
  };
  const done = runConsumer(follower, options, abort.signal);
  stop = async () => {
    abort.abort();
    await done;
  };
};
const until = async (holds: () => Promise<boolean>): Promise<void> => {
  for (const deadline = Date.now() + 60_000; !(await holds()); await delay(20))
    if (Date.now() > deadline) throw new Error('It never came to be');
};
const applied = async () =>
  (await pool.query<{ stream: string }>('select stream from applied order by nr')).rows.map(
    ({ stream }) => stream,
  );
const lag = async () => (await consumerLag(pool, store, { now: Date.parse(AT) + 90_000 }))[0]!;
/** An operator's decision that the consumer passes over an event of `tally-bad`. */
const setAside = async (revision: number): Promise<void> =>
  recordSetAside(
    store,
    {
      stream: 'tally-bad',
      revision: String(revision),
      eventId: 'e',
      eventType: 'Added',
      consumers: ['billing.money.v1'],
      cause: 'RangeError: no',
      reason: 'written by a bug',
    },
    requestedBy('operator:ada', `ops_${revision}`),
  );

describe('a consumer at an event that it cannot handle', () => {
  it('parks the stream and alerts; it handles the rest in order once each bad event is set aside', async () => {
    await append('a', 'bad', 'b', 'bad');
    start();
    await until(async () => (await lag())?.events === 0);
    expect(await stoppedStreams(pool)).toEqual([
      {
        consumer: 'billing.money.v1',
        state: 'parked',
        stream: 'tally-bad',
        key: 'bad',
        cause: 'tally-bad@0',
        position: 200n,
        error: 'RangeError: no',
        since: expect.any(Date),
      },
    ]);
    expect(alerts).toContainEqual(
      expect.objectContaining({ consumer: 'billing.money.v1', stream: 'tally-bad', cause: 'tally-bad@0' }),
    );
    expect(await lag()).toMatchObject({ status: 'running', events: 0, seconds: 0, parkedStreams: 1 });
    await setAside(0);
    await until(async () => (await stoppedStreams(pool))[0]?.cause === 'tally-bad@1');
    await setAside(1);
    await until(async () => (await stoppedStreams(pool)).length === 0);
    await append('c');
    await until(async () => (await applied()).length === 3);
    expect(await applied()).toEqual(['tally-a', 'tally-b', 'tally-c']);
  });

  it('that halted as a whole continues once the event is set aside', async () => {
    await append('a', 'bad', 'b');
    start(0);
    await until(async () => (await stoppedStreams(pool)).length > 0);
    expect(await stoppedStreams(pool)).toMatchObject([
      { state: 'halted', stream: 'tally-bad', cause: 'tally-bad@0', position: 200n, key: null },
    ]);
    expect(await lag()).toMatchObject({ status: 'halted', events: 2, seconds: 90 });
    expect(await stoppedStreams(pool, 'other')).toEqual([]);
    await setAside(0);
    await until(async () => (await applied()).length === 2);
  });
});

describe('the lag of consumers', () => {
  it('counts the unhandled events of each, and reports when there may be more', async () => {
    await append('a', 'b');
    await store.append('other-1', 'no_stream', [addedToAppend('00000000-0000-4000-9000-000000000001', 'x')]);
    await append('c');
    await pool.query(
      `insert into event_sourcing.consumer (name, position, categories) values
         ('one', 100, '{tally}'), ('never', null, '{other}'), ('there', 400, '{tally}'), ('one__v2', null, '{tally}')`,
    );
    const lags = await consumerLag(pool, store, { now: Date.parse(AT) + 5_000 });
    expect(
      lags.map(({ consumer, events, seconds, atLeast }) => [consumer, events, seconds, atLeast]),
    ).toEqual([
      ['never', 1, 5, false],
      ['one', 2, 5, false],
      ['there', 0, 0, false],
    ]);
    expect(lags.every(({ status }) => status === 'running')).toBe(true);
    const [never] = await consumerLag(pool, store, { now: Date.parse(AT), lookAhead: 2 });
    expect(never).toMatchObject({ events: 0, atLeast: true });
  });

  it('reports a checkpoint beyond the end of the log, but not one that an append overtook', async () => {
    await append('a', 'b');
    await pool.query(
      `insert into event_sourcing.consumer (name, position, categories, status) values
         ('ahead', 300, '{tally}', 'halted'), ('at the end', 200, '{tally}', 'running')`,
    );
    expect((await consumerLag(pool, store)).map(({ consumer, status }) => [consumer, status])).toEqual([
      ['ahead', 'beyond_the_log'],
      ['at the end', 'running'],
    ]);
    // A consumer that runs has handled what was appended after the head was read.
    const moving = {
      query: async (...asked: unknown[]) => {
        await append('c');
        return (pool.query as (...all: unknown[]) => unknown)(...asked);
      },
    } as unknown as pg.Pool;
    await pool.query(`update event_sourcing.consumer set position = 300, status = 'running'`);
    expect((await consumerLag(moving, store)).map(({ status }) => status)).toEqual(['running', 'running']);
  });
});
