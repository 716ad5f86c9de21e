import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { setTimeout as delay } from 'node:timers/promises';
import { openPool } from '@app/platform/postgres/pool.js';
import { startPostgres, type StartedPostgres } from '../../../../test/support/index.js';
import type { RecordedOf } from '../core/event-catalogue.js';
import { holdCheckpoint } from '../projections/checkpoint.js';
import { defineProjection, projectionConsumer, type Projection } from '../projections/projection.js';
import { runConsumer } from '../projections/runner.js';
import { sql } from '../projections/statement.js';
import { transaction } from '../projections/transaction.js';
import { view } from '../projections/view.js';
import type { EventStore } from '../store/event-store.js';
import { InMemoryEventStore } from '../testing/in-memory-event-store.js';
import { intercept } from '../testing/intercepted-store.js';
import { addedToAppend, tallyEvents, totalView } from '../testing/tally.js';
import { rebuild } from './rebuild.js';
import { replayStream } from './replay-stream.js';
import { switchVersion } from './switch.js';
import { verify } from './verify.js';
import { Refused, beginVersion, dropVersions, oneAtATime, versionsOf, type Workshop } from './versions.js';

let postgres: StartedPostgres;
let pool: pg.Pool;
let store: InMemoryEventStore;
let workshop: Workshop;
let appended = 0;
let stopLive: (() => Promise<void>) | null = null;

const quiet = { warn: () => undefined, error: () => undefined };
const NAME = 'tally.total.v1';
const OPERATOR = { by: 'operator:ada' };

interface Flagged {
  readonly stream: string;
  readonly sum: number;
  readonly revision: string;
  readonly flag: boolean;
}

/** As the live rows have always been. */
const totalsBy = (one: typeof totalView, onPoison: 'park' | 'halt' = 'park'): Projection =>
  defineProjection({
    name: NAME,
    catalogues: [tallyEvents],
    views: [one],
    effects: ({ id }) => [sql`insert into told values (${id})`],
    onPoison,
  });
const totals = totalsBy(totalView);

beforeAll(async () => {
  postgres = await startPostgres();
  pool = openPool(postgres.databaseUrl, { size: 10, applicationName: 'rebuild', onError: () => undefined });
  await pool.query(`create table told (id text not null);
    create table flagged (stream text primary key, sum integer not null, revision numeric not null, flag boolean not null)`);
});

afterAll(async () => {
  await pool.end();
  await postgres.stop();
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
    truncate told, flagged, event_sourcing.consumer, event_sourcing.parked_event, event_sourcing.projection_version`);
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
const many = (count: number) => Array.from({ length: count }, (_, index) => `s${index % 7}`);

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
  const deadline = Date.now() + 20_000;
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
/** Statements that wait for a lock of another. */
const waiting = async (count: number): Promise<void> => {
  const deadline = Date.now() + 5_000;
  for (;;) {
    const { rowCount } = await pool.query('select distinct pid from pg_locks where not granted');
    if (rowCount === count) return;
    if (Date.now() > deadline) throw new Error(`${rowCount} wait instead of ${count}`);
    await delay(10);
  }
};
const holdLive = (client: pg.PoolClient): Promise<unknown> => holdCheckpoint(client, NAME);
/** Does the work while a transaction holds something. What the work waits for must be wrapped, not returned. */
const whileHeld = <T>(
  hold: (client: pg.PoolClient) => Promise<unknown>,
  work: () => Promise<T>,
): Promise<T> =>
  transaction(pool, async (client) => {
    await hold(client);
    return work();
  });
const goneVersion = new Refused(['Version 2 of tally.total.v1 is no longer being built.']);
const consumers = async () =>
  (await pool.query<{ name: string }>('select name from event_sourcing.consumer order by name')).rows.map(
    ({ name }) => name,
  );
const states = async () =>
  (await versionsOf(pool, totals)).map(({ version, state }) => `${version} ${state}`);

describe('rebuilding a projection', () => {
  it('fills tables of its own with the same rows, and has none of the effects', async () => {
    await append(...many(30));
    goLive();
    await liveCaughtUp();
    const before = await dump('told');
    expect(await rebuild(workshop, totals, { batchSize: 7 })).toEqual({ version: 2, events: 30 });
    expect(await dump('total__v2')).toEqual(await dump('total'));
    expect(await dump('told')).toEqual(before);
    expect(await states()).toEqual(['1 live', '2 building']);
  });

  it('goes on where it was killed', async () => {
    await append(...many(30));
    goLive();
    await liveCaughtUp();
    const read: bigint[] = [];
    const dying: EventStore = intercept(store, {
      readAll: (options) => ({
        async *[Symbol.asyncIterator]() {
          for await (const event of store.readAll(options)) {
            read.push(event.position);
            if (read.length === 16) throw new Error('killed');
            yield event;
          }
        },
      }),
    });
    await expect(rebuild({ ...workshop, store: dying }, totals, { batchSize: 5 })).rejects.toThrow('killed');
    const { rows } = await pool.query<{ position: string }>(
      `select position from event_sourcing.consumer where name = '${NAME}__v2'`,
    );
    const handled = Number(rows[0]!.position) / 100;
    expect(handled).toBeGreaterThan(0);
    expect(await rebuild(workshop, totals)).toEqual({ version: 2, events: 30 - handled });
    expect(await dump('total__v2')).toEqual(await dump('total'));
  });

  it('tells how far it is', async () => {
    await append(...many(20));
    goLive();
    await liveCaughtUp();
    const told: { events: number; fraction: number }[] = [];
    await rebuild(workshop, totals, { batchSize: 5, onProgress: (done) => told.push(done) });
    expect(told.at(-1)).toEqual({ events: 20, fraction: 1 });
    expect(told.map(({ fraction }) => fraction)).toEqual(told.map(({ fraction }) => fraction).toSorted());
  });

  it('is refused while another one is under way', async () => {
    await append(...many(20));
    goLive();
    await liveCaughtUp();
    let second: Promise<unknown> | undefined;
    await rebuild(workshop, totals, {
      batchSize: 5,
      // Later ones might come when the first is done.
      onProgress: () => {
        second ??= rebuild(workshop, totals);
        second.catch(() => undefined);
      },
    });
    await expect(second).rejects.toThrow(/Another rebuild of tally.total.v1 is under way/);
  });

  it('is refused when the schema has changed since it was begun', async () => {
    await append('a');
    goLive();
    await liveCaughtUp();
    await rebuild(workshop, totals);
    await pool.query('alter table total add column note text');
    await expect(rebuild(workshop, totals)).rejects.toThrow(/schema has changed.*note text.*Drop it/);
  });

  it('is never of two programs: neither gone on with, verified nor switched to by another build', async () => {
    await append('a', 'b', 'a');
    goLive();
    await liveCaughtUp();
    const wrong: typeof totalView = {
      ...totalView,
      evolve: (row, event) => ({ ...totalView.evolve(row, event)!, sum: 40 }),
    };
    await rebuild(workshop, totalsBy(wrong));
    await verify(workshop, totals);
    const mended = { ...workshop, program: 'the next build' };
    const refusal =
      /Version 2 of tally.total.v1 was begun by another build.*ops projections drop tally.total.v1 --unfinished/;
    await expect(rebuild(mended, totals)).rejects.toThrow(refusal);
    await expect(verify(mended, totals)).rejects.toThrow(refusal);
    const accepting = { ...OPERATOR, acceptDifferences: 'the code was wrong' };
    await expect(switchVersion(mended, totals, accepting)).rejects.toThrow(refusal);
    expect(await dropVersions(mended, totals, { unfinished: true })).toEqual([2]);
    expect(await rebuild(mended, totals)).toEqual({ version: 2, events: 3 });
    expect((await verify(mended, totals)).equal).toBe(true);
  });

  it('parks a stream that it cannot apply, and halts when nothing may be skipped', async () => {
    await append('a', 'bad', 'b', 'bad');
    goLive();
    await liveCaughtUp();
    const failing: typeof totalView = {
      ...totalView,
      evolve: (row, event) => {
        if (event.stream === 'tally-bad') throw new RangeError('no');
        return totalView.evolve(row, event);
      },
    };
    const halting = totalsBy(failing, 'halt');
    await expect(rebuild(workshop, halting)).rejects.toThrow(/cannot go on: RangeError: no/);
    await dropVersions(workshop, totals, { unfinished: true });
    const parking = totalsBy(failing);
    await rebuild(workshop, parking);
    expect(await dump('total__v2')).toEqual(['(tally-a,1,0)', '(tally-b,1,0)']);
    await verify(workshop, parking);
    await expect(switchVersion(workshop, parking, OPERATOR)).rejects.toThrow(/has 2 parked events/);
  });
});

describe('verifying a version', () => {
  it('finds it equal at the same position while the live view goes on', async () => {
    await append(...many(30));
    goLive();
    await liveCaughtUp();
    await rebuild(workshop, totals);
    const stop = new AbortController();
    const appending = (async () => {
      // Fewer in all than a version may be behind when it is verified, however slow the machine.
      for (let times = 0; times < 500 && !stop.signal.aborted; times += 1) {
        await append(...many(3));
        await delay(1);
      }
    })();
    const found: boolean[] = [];
    for (let count = 0; count < 10; count += 1) found.push((await verify(workshop, totals)).equal);
    stop.abort();
    await appending;
    expect(found).toEqual(found.map(() => true));

    await liveCaughtUp();
    const { equal, position, tables } = await verify(workshop, totals);
    expect([equal, position]).toEqual([true, await store.head()]);
    expect(tables).toEqual([
      expect.objectContaining({
        table: 'public.total',
        rows: 7,
        versionRows: 7,
        differences: 0,
        examples: [],
      }),
    ]);
    expect(tables[0]!.hash).toBe(tables[0]!.versionHash);
  });

  it.each([
    ['a changed value', `update total set sum = sum + 1 where stream = 'tally-s3'`],
    ['a lost row', `delete from total where stream = 'tally-s3'`],
  ])('finds %s and names its key', async (_, damage) => {
    await append(...many(30));
    goLive();
    await liveCaughtUp();
    await rebuild(workshop, totals);
    await pool.query(damage);
    const { equal, tables } = await verify(workshop, totals);
    expect(equal).toBe(false);
    expect(tables[0]).toMatchObject({ differences: 1, examples: ['tally-s3'] });
    await expect(switchVersion(workshop, totals, OPERATOR)).rejects.toThrow(
      /differs from the live one in 1 rows/,
    );
  });

  it('is refused when the checkpoint of the version is gone, and makes none', async () => {
    await append('a');
    goLive();
    await liveCaughtUp();
    await rebuild(workshop, totals);
    await pool.query('delete from event_sourcing.consumer where name = $1', [`${NAME}__v2`]);
    await expect(verify(workshop, totals)).rejects.toThrow(/tally.total.v1__v2 has no checkpoint.*Drop/);
    expect(await consumers()).toEqual([NAME]);
  });

  it('is refused without a version, and while the live view has handled nothing', async () => {
    await expect(verify(workshop, totals)).rejects.toThrow(/No version of tally.total.v1 is being built/);
    await append('a');
    await rebuild(workshop, totals);
    await expect(verify(workshop, totals)).rejects.toThrow(/has not handled any event yet/);
  });
});

describe('switching to a version', () => {
  const damaged = async (): Promise<void> => {
    await append(...many(30));
    goLive();
    await liveCaughtUp();
    await rebuild(workshop, totals);
  };

  it('puts its tables in the place of the live ones, names of indexes included, and the live view goes on in them', async () => {
    await damaged();
    await verify(workshop, totals);
    const indexes = () =>
      pool.query(`select indexname, indexdef from pg_indexes where tablename = 'total' order by indexname`);
    const { rows: before } = await indexes();
    expect(await switchVersion(workshop, totals, OPERATOR)).toMatchObject({ version: 2, retired: 1 });
    expect((await indexes()).rows).toEqual(before);
    await append('s0', 'new');
    await liveCaughtUp();
    expect(await dump('total')).toContain('(tally-new,1,0)');
    expect(await dump('total__v1')).not.toContain('(tally-new,1,0)');
    expect(await states()).toEqual(['1 retired', '2 live']);
    expect(await dropVersions(workshop, totals, { unfinished: false })).toEqual([1]);
    expect(await states()).toEqual(['2 live']);
    expect(await rebuild(workshop, totals)).toMatchObject({ version: 3 });
    expect((await verify(workshop, totals)).equal).toBe(true);
  });

  it('is refused before it was verified', async () => {
    await damaged();
    await expect(switchVersion(workshop, totals, OPERATOR)).rejects.toThrow(/Version 2 .* was not verified/);
  });

  it('is refused when it is not caught up', async () => {
    await damaged();
    await verify(workshop, totals);
    await append(...many(2_100));
    await liveCaughtUp();
    await expect(switchVersion(workshop, totals, OPERATOR)).rejects.toThrow(
      /not caught up.*go on with its rebuild/,
    );
  });

  it('is refused when the schema has changed', async () => {
    await damaged();
    await verify(workshop, totals);
    await pool.query('drop index total_by_sum');
    await expect(switchVersion(workshop, totals, OPERATOR)).rejects.toThrow(/other indexes.*total_by_sum/);
  });

  it('mends lost rows when the operator says that the difference is wanted, and keeps why', async () => {
    await damaged();
    const whole = await dump('total');
    await pool.query('truncate total');
    await verify(workshop, totals);
    await switchVersion(workshop, totals, { ...OPERATOR, acceptDifferences: 'the table was emptied' });
    expect(await dump('total')).toEqual(whole);
    const { rows } = await pool.query(
      `select switched_by, reason from event_sourcing.projection_version where state = 'live'`,
    );
    expect(rows).toEqual([{ switched_by: 'operator:ada', reason: 'the table was emptied' }]);
  });

  it('lets readers who hold the table go first', async () => {
    await damaged();
    await verify(workshop, totals);
    const reader = await pool.connect();
    await reader.query('begin');
    await reader.query('select * from total');
    const switching = switchVersion(workshop, totals, OPERATOR);
    await delay(1_500);
    expect((await pool.query('select count(*)::int as n from total')).rows).toEqual([{ n: 7 }]);
    await reader.query('commit');
    reader.release();
    await expect(switching).resolves.toMatchObject({ version: 2 });
  });

  it('is done once when two ask for it, and the other is told; nothing is left of the version it meant', async () => {
    await damaged();
    await verify(workshop, totals);
    const switches = await whileHeld(holdLive, async () => {
      const both = [switchVersion(workshop, totals, OPERATOR), switchVersion(workshop, totals, OPERATOR)];
      const settled = Promise.allSettled(both);
      await waiting(2);
      return { settled };
    });
    expect(await switches.settled).toEqual(
      expect.arrayContaining([
        { status: 'fulfilled', value: expect.objectContaining({ version: 2, retired: 1 }) },
        { status: 'rejected', reason: goneVersion },
      ]),
    );
    expect(await consumers()).toEqual([NAME]);
    expect(await states()).toEqual(['1 retired', '2 live']);
  });

  it('is refused for another version of the same number, which nobody has verified', async () => {
    await damaged();
    await verify(workshop, totals);
    const { begun, switched } = await whileHeld(
      (client) => oneAtATime(client, totals),
      async () => {
        const dropped = dropVersions(workshop, totals, { unfinished: true });
        await waiting(1);
        const next = dropped.then(() => beginVersion(workshop, totals));
        const queued = beginVersion(workshop, totals);
        await waiting(2);
        const switching = Promise.allSettled([switchVersion(workshop, totals, OPERATOR)]);
        await waiting(3);
        return { begun: Promise.all([queued, next]), switched: switching };
      },
    );
    expect(await begun).toEqual([2, 2]);
    expect(await switched).toEqual([{ status: 'rejected', reason: goneVersion }]);
    expect(await states()).toEqual(['1 live', '2 building']);
  });

  it('does not hold up the live view while it waits for another who changes its versions', async () => {
    await damaged();
    await verify(workshop, totals);
    const { switched } = await whileHeld(
      (client) => oneAtATime(client, totals),
      async () => {
        const switching = switchVersion(workshop, totals, OPERATOR);
        await waiting(1);
        await append('new');
        await liveCaughtUp();
        return { switched: switching };
      },
    );
    await expect(switched).resolves.toMatchObject({ version: 2 });
  });

  it('keeps what others wrote into external columns', async () => {
    const flagged = view<Flagged, RecordedOf<[typeof tallyEvents]>>({
      table: 'public.flagged',
      key: ['stream'],
      external: ['flag'],
      keyOf: ({ stream }) => ({ stream }),
      evolve: (row, event) =>
        row
          ? { ...row, sum: row.sum + 1, revision: String(event.revision) }
          : { stream: event.stream, sum: 1, revision: '0', flag: false },
    });
    const projection = defineProjection({ name: NAME, catalogues: [tallyEvents], views: [flagged] });
    await append('a', 'b');
    goLive(projection);
    await liveCaughtUp();
    await pool.query(`update flagged set flag = true where stream = 'tally-a'`);
    await append('a', 'b');
    await liveCaughtUp();
    await rebuild(workshop, projection);
    expect((await verify(workshop, projection)).equal).toBe(true);
    await switchVersion(workshop, projection, OPERATOR);
    expect(await dump('flagged')).toEqual(['(tally-a,2,1,t)', '(tally-b,2,1,f)']);
    await pool.query('drop table flagged__v1');
  });
});

describe('replaying one stream', () => {
  it('makes its rows anew and leaves the others alone', async () => {
    await append('a', 'b', 'a');
    goLive();
    await liveCaughtUp();
    await pool.query('update total set sum = 40');
    expect(await replayStream(workshop, totals, 'tally-a')).toEqual({ streams: ['tally-a'], events: 2 });
    expect(await dump('total')).toEqual(['(tally-a,2,1)', '(tally-b,40,0)']);
  });

  it('releases a parked stream once its events can be applied; the running view goes on with it', async () => {
    const state = { mended: false };
    const mending: Projection = {
      ...totals,
      effects: ({ stream }) => (stream === 'tally-bad' && !state.mended ? [sql`select 1 / 0`] : []),
    };
    await append('bad', 'a', 'bad');
    goLive(mending);
    await liveCaughtUp();
    expect(await dump('total')).toEqual(['(tally-a,1,0)']);
    state.mended = true;
    await replayStream(workshop, mending, 'tally-bad');
    expect((await pool.query('select from event_sourcing.parked_event')).rowCount).toBe(0);
    await append('bad');
    await liveCaughtUp();
    expect(await dump('total')).toEqual(['(tally-a,1,0)', '(tally-bad,3,2)']);
  });

  it('is refused for a stream that the projection does not follow, or that is not there', async () => {
    await expect(replayStream(workshop, totals, 'reading-1')).rejects.toThrow(/follows tally streams/);
    await expect(replayStream(workshop, totals, 'tally-nothing')).rejects.toThrow(/no stream tally-nothing/);
  });
});
