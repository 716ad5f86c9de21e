import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import type { RecordedOf } from '../core/event-catalogue.js';
import type { Recorded } from '../core/event.js';
import { intercept, type EventStore } from '../store/event-store.js';
import { tallyEvents, totalView } from '../testing/tally.js';
import { defineProjection, type Projection } from './projection.js';
import {
  Refused,
  beginVersion,
  dropVersions,
  forgetVerifications,
  oneAtATime,
  rebuild,
  switchVersion,
  verify,
} from './rebuild.js';
import { replayStream } from './replay-stream.js';
import { sql } from './statement.js';
import { NAME, OPERATOR, many, rebuildsUnderTest, totals, totalsBy } from './testing/rebuilds-under-test.js';
import { view } from './view.js';

const rebuilds = rebuildsUnderTest();
const { append, goLive, liveCaughtUp, dump, waiting, holdLive, whileHeld, consumers, states } = rebuilds;

describe('rebuilding a projection', () => {
  it('fills separate tables with the same rows, without effects', async () => {
    await append(...many(30));
    goLive();
    await liveCaughtUp();
    const before = await dump('effect');
    expect(await rebuild(rebuilds.workshop, totals, { batchSize: 7 })).toEqual({ version: 2, events: 30 });
    expect(await dump('total__v2')).toEqual(await dump('total'));
    expect(await dump('effect')).toEqual(before);
    expect(await states()).toEqual(['1 live', '2 building']);
  });

  it('resumes where it stopped when it was killed', async () => {
    await append(...many(30));
    goLive();
    await liveCaughtUp();
    const read: bigint[] = [];
    const dying: EventStore = intercept(rebuilds.store, {
      readAll: (options) => ({
        async *[Symbol.asyncIterator]() {
          for await (const event of rebuilds.store.readAll(options)) {
            if (options?.direction !== 'backwards') read.push(event.position);
            if (read.length === 16) throw new Error('killed');
            yield event;
          }
        },
      }),
    });
    await expect(rebuild({ ...rebuilds.workshop, store: dying }, totals, { batchSize: 5 })).rejects.toThrow(
      'killed',
    );
    const { rows } = await rebuilds.pool.query<{ position: string }>(
      `select position from event_sourcing.consumer where name = '${NAME}__v2'`,
    );
    const handled = Number(rows[0]!.position) / 100;
    expect(handled).toBeGreaterThan(0);
    expect(await rebuild(rebuilds.workshop, totals)).toEqual({ version: 2, events: 30 - handled });
    expect(await dump('total__v2')).toEqual(await dump('total'));
  });

  it('is refused while another one runs', async () => {
    await append(...many(20));
    goLive();
    await liveCaughtUp();
    let second: Promise<unknown> | undefined;
    const patient: EventStore = intercept(rebuilds.store, {
      readAll: (options) => ({
        async *[Symbol.asyncIterator]() {
          for await (const event of rebuilds.store.readAll(options)) {
            yield event;
            // The first one does not end before the second has asked.
            await second?.catch(() => undefined);
          }
        },
      }),
    });
    await rebuild({ ...rebuilds.workshop, store: patient }, totals, {
      batchSize: 5,
      onProgress: () => void (second ??= rebuild(rebuilds.workshop, totals)).catch(() => undefined),
    });
    await expect(second).rejects.toThrow(/Another rebuild of tally.total.v1 is under way/);
  });

  it('is refused when the schema has changed since it was started', async () => {
    await append('a');
    goLive();
    await liveCaughtUp();
    await rebuild(rebuilds.workshop, totals);
    await rebuilds.pool.query('alter table total add column note text');
    await expect(rebuild(rebuilds.workshop, totals)).rejects.toThrow(
      /schema has changed.*note text.*Drop it/,
    );
  });

  it('belongs to one build of the program: another cannot resume, verify or switch to it', async () => {
    await append('a', 'b', 'a');
    goLive();
    await liveCaughtUp();
    const wrong: typeof totalView = {
      ...totalView,
      evolve: (row, event) => ({ ...totalView.evolve(row, event)!, sum: 40 }),
    };
    await rebuild(rebuilds.workshop, totalsBy(wrong));
    await verify(rebuilds.workshop, totals);
    const mended = { ...rebuilds.workshop, program: 'the next build' };
    const refusal =
      /Version 2 of tally.total.v1 was started by another build of the program, and would mix rows of both.*ops projections drop tally.total.v1 --unfinished/;
    await expect(rebuild(mended, totals)).rejects.toThrow(refusal);
    await expect(verify(mended, totals)).rejects.toThrow(refusal);
    const accepting = { ...OPERATOR, acceptDifferences: 'the code was wrong' };
    await expect(switchVersion(mended, totals, accepting)).rejects.toThrow(refusal);
    expect(await dropVersions(mended, totals, { unfinished: true })).toEqual([2]);
    expect(await rebuild(mended, totals)).toEqual({ version: 2, events: 3 });
    expect((await verify(mended, totals)).equal).toBe(true);
  });

  it('parks a stream that it cannot apply, and cannot be switched to until it is released', async () => {
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
    const parking = totalsBy(failing);
    await rebuild(rebuilds.workshop, parking);
    expect(await dump('total__v2')).toEqual(['(tally-a,1,0)', '(tally-b,1,0)']);
    await verify(rebuilds.workshop, parking);
    await expect(switchVersion(rebuilds.workshop, parking, OPERATOR)).rejects.toThrow(/has 1 parked streams/);
  });
});

describe('verifying a version', () => {
  it('compares it at the same position while the live view continues', async () => {
    await append(...many(30));
    goLive();
    await liveCaughtUp();
    await rebuild(rebuilds.workshop, totals);
    const stop = new AbortController();
    const appending = (async () => {
      // Fewer events than a version may be behind at its verification, however slow the machine.
      for (let times = 0; times < 500 && !stop.signal.aborted; times += 1) {
        await append(...many(3));
        await delay(1);
      }
    })();
    const found: boolean[] = [];
    for (let count = 0; count < 10; count += 1) found.push((await verify(rebuilds.workshop, totals)).equal);
    stop.abort();
    await appending;
    expect(found).toEqual(found.map(() => true));

    await liveCaughtUp();
    const { equal, position, tables } = await verify(rebuilds.workshop, totals);
    expect([equal, position]).toEqual([true, await rebuilds.store.head()]);
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
    await rebuild(rebuilds.workshop, totals);
    await rebuilds.pool.query(damage);
    const { equal, tables } = await verify(rebuilds.workshop, totals);
    expect(equal).toBe(false);
    expect(tables[0]).toMatchObject({ differences: 1, examples: ['tally-s3'] });
    await expect(switchVersion(rebuilds.workshop, totals, OPERATOR)).rejects.toThrow(
      /differs from the live one in 1 rows/,
    );
  });

  it('is refused when the checkpoint of the version is gone, and creates none', async () => {
    await append('a');
    goLive();
    await liveCaughtUp();
    await rebuild(rebuilds.workshop, totals);
    await rebuilds.pool.query('delete from event_sourcing.consumer where name = $1', [`${NAME}__v2`]);
    await expect(verify(rebuilds.workshop, totals)).rejects.toThrow(
      /tally.total.v1__v2 has no checkpoint: its version is missing or damaged.*Drop/,
    );
    expect(await consumers()).toEqual([NAME]);
  });

  it('is refused without a version, and before the live view has handled an event', async () => {
    await expect(verify(rebuilds.workshop, totals)).rejects.toThrow(
      /No version of tally.total.v1 is being built/,
    );
    await append('a');
    await rebuild(rebuilds.workshop, totals);
    await expect(verify(rebuilds.workshop, totals)).rejects.toThrow(/has not handled any event yet/);
  });
});

interface Flagged {
  readonly stream: string;
  readonly sum: number;
  readonly revision: string;
  readonly flag: boolean;
}

const goneVersion = new Refused(['Version 2 of tally.total.v1 is no longer being built.']);

describe('switching to a version', () => {
  const damaged = async (): Promise<void> => {
    await append(...many(30));
    goLive();
    await liveCaughtUp();
    await rebuild(rebuilds.workshop, totals);
  };

  it('replaces the live tables, including the names of indexes, and the live view continues in the new ones', async () => {
    await damaged();
    await verify(rebuilds.workshop, totals);
    const indexes = () =>
      rebuilds.pool.query(
        `select indexname, indexdef from pg_indexes where tablename = 'total' order by indexname`,
      );
    const { rows: before } = await indexes();
    expect(await switchVersion(rebuilds.workshop, totals, OPERATOR)).toMatchObject({
      version: 2,
      retired: 1,
    });
    expect((await indexes()).rows).toEqual(before);
    await append('s0', 'new');
    await liveCaughtUp();
    expect(await dump('total')).toContain('(tally-new,1,0)');
    expect(await dump('total__v1')).not.toContain('(tally-new,1,0)');
    expect(await states()).toEqual(['1 retired', '2 live']);
    expect(await dropVersions(rebuilds.workshop, totals, { unfinished: false })).toEqual([1]);
    expect(await states()).toEqual(['2 live']);
    expect(await rebuild(rebuilds.workshop, totals)).toMatchObject({ version: 3 });
    expect((await verify(rebuilds.workshop, totals)).equal).toBe(true);
  });

  it('is refused before verification, and when an event was set aside after it', async () => {
    await damaged();
    const refused = () =>
      expect(switchVersion(rebuilds.workshop, totals, OPERATOR)).rejects.toThrow(
        /Version 2 .* was not verified/,
      );
    await refused();
    await verify(rebuilds.workshop, totals);
    await forgetVerifications(rebuilds.pool);
    await refused();
  });

  it('hands what the version has parked to the consumer that keeps its rows, which tries it again', async () => {
    const faulty: typeof totalView = {
      ...totalView,
      evolve: (row, event) => {
        if (event.stream === 'tally-bad') throw new TypeError('A bug of this build');
        return totalView.evolve(row, event);
      },
    };
    const kept = defineProjection({
      name: 'tally.kept.v1',
      keptBy: NAME,
      catalogues: [tallyEvents],
      views: [faulty],
    });
    await append('bad', 'a', 'bad');
    goLive();
    await liveCaughtUp();
    await rebuild(rebuilds.workshop, kept);
    await switchVersion(rebuilds.workshop, kept, { ...OPERATOR, acceptDifferences: 'INC-42' });
    const parked = async () =>
      (await rebuilds.pool.query('select consumer from event_sourcing.parked_stream')).rows;
    for (const deadline = Date.now() + 60_000; (await parked()).length > 0 && Date.now() < deadline;)
      await delay(50);
    expect(await parked()).toEqual([]);
    expect(await dump('total')).toEqual(['(tally-a,1,0)', '(tally-bad,2,1)']);
    await rebuilds.pool.query('drop table total__v1');
  });

  it('is refused when it is not caught up', async () => {
    await damaged();
    await verify(rebuilds.workshop, totals);
    await append(...many(2_100));
    await liveCaughtUp();
    await expect(switchVersion(rebuilds.workshop, totals, OPERATOR)).rejects.toThrow(
      /more than 2000 events behind: resume its rebuild/,
    );
  });

  it('restores lost rows when the operator accepts the difference, and records the reason', async () => {
    await damaged();
    const whole = await dump('total');
    await rebuilds.pool.query('truncate total');
    await verify(rebuilds.workshop, totals);
    await switchVersion(rebuilds.workshop, totals, {
      ...OPERATOR,
      acceptDifferences: 'the table was emptied',
    });
    expect(await dump('total')).toEqual(whole);
    const { rows } = await rebuilds.pool.query(
      `select switched_by, reason from event_sourcing.projection_version where state = 'live'`,
    );
    expect(rows).toEqual([{ switched_by: 'operator:ada', reason: 'the table was emptied' }]);
  });

  it('waits for readers that hold the table', async () => {
    await damaged();
    await verify(rebuilds.workshop, totals);
    const reader = await rebuilds.pool.connect();
    await reader.query('begin');
    await reader.query('select * from total');
    const switching = switchVersion(rebuilds.workshop, totals, OPERATOR);
    await delay(1_500);
    expect((await rebuilds.pool.query('select count(*)::int as n from total')).rows).toEqual([{ n: 7 }]);
    await reader.query('commit');
    reader.release();
    await expect(switching).resolves.toMatchObject({ version: 2 });
  });

  it('happens once when two request it; the other is refused, and nothing is left of its version', async () => {
    await damaged();
    await verify(rebuilds.workshop, totals);
    const switches = await whileHeld(holdLive, async () => {
      const both = [
        switchVersion(rebuilds.workshop, totals, OPERATOR),
        switchVersion(rebuilds.workshop, totals, OPERATOR),
      ];
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

  it('is refused for a new, unverified version with the same number', async () => {
    await damaged();
    await verify(rebuilds.workshop, totals);
    const { started, switched } = await whileHeld(
      (client) => oneAtATime(client, totals),
      async () => {
        const dropped = dropVersions(rebuilds.workshop, totals, { unfinished: true });
        await waiting(1);
        const next = dropped.then(() => beginVersion(rebuilds.workshop, totals));
        const queued = beginVersion(rebuilds.workshop, totals);
        await waiting(2);
        const switching = Promise.allSettled([switchVersion(rebuilds.workshop, totals, OPERATOR)]);
        await waiting(3);
        return { started: Promise.all([queued, next]), switched: switching };
      },
    );
    expect(await started).toEqual([2, 2]);
    expect(await switched).toEqual([{ status: 'rejected', reason: goneVersion }]);
    expect(await states()).toEqual(['1 live', '2 building']);
  });

  it('keeps the values of external columns', async () => {
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
    await rebuilds.pool.query(`update flagged set flag = true where stream = 'tally-a'`);
    await append('a', 'b');
    await liveCaughtUp();
    await rebuild(rebuilds.workshop, projection);
    expect((await verify(rebuilds.workshop, projection)).equal).toBe(true);
    await switchVersion(rebuilds.workshop, projection, OPERATOR);
    expect(await dump('flagged')).toEqual(['(tally-a,2,1,t)', '(tally-b,2,1,f)']);
    await rebuilds.pool.query('drop table flagged__v1');
  });
});

describe('replaying one stream', () => {
  it('rebuilds its rows, and no others', async () => {
    await append('a', 'b', 'a');
    goLive();
    await liveCaughtUp();
    await rebuilds.pool.query('update total set sum = 40');
    expect(await replayStream(rebuilds.workshop, totals, 'tally-a')).toEqual({
      streams: ['tally-a'],
      events: 2,
    });
    expect(await dump('total')).toEqual(['(tally-a,2,1)', '(tally-b,40,0)']);
  });

  it('releases a parked stream with the effects that waited, once and in order; the running view continues with it', async () => {
    const state = { mended: false };
    const effects = (event: Recorded) => [
      ...(event.stream === 'tally-bad' && event.revision === 1n && !state.mended ? [sql`select 1 / 0`] : []),
      ...(totals.effects?.(event) ?? []),
    ];
    const mending: Projection = { ...totals, effects };
    await append('bad', 'a', 'bad', 'bad');
    goLive(mending);
    await liveCaughtUp();
    const ids = rebuilds.store.log.map(({ id }) => id);
    const done = async () => (await dump('effect')).map((row) => row.slice(1, -1));
    expect(await done()).toEqual([ids[0], ids[1]]);
    await expect(replayStream(rebuilds.workshop, mending, 'tally-bad')).rejects.toThrow(/division by zero/);
    expect((await rebuilds.pool.query('select from event_sourcing.parked_stream')).rowCount).toBe(1);
    state.mended = true;
    await replayStream(rebuilds.workshop, mending, 'tally-bad');
    expect(await done()).toEqual([ids[0], ids[1], ids[2], ids[3]]);
    await replayStream(rebuilds.workshop, mending, 'tally-bad');
    expect(await done()).toHaveLength(4);
    expect((await rebuilds.pool.query('select from event_sourcing.parked_stream')).rowCount).toBe(0);
    await append('bad');
    await liveCaughtUp();
    expect(await dump('total')).toEqual(['(tally-a,1,0)', '(tally-bad,4,3)']);
  });

  it('is refused for a stream that the projection does not follow, or that does not exist', async () => {
    await expect(replayStream(rebuilds.workshop, totals, 'reading-1')).rejects.toThrow(
      /follows tally streams/,
    );
    await expect(replayStream(rebuilds.workshop, totals, 'tally-nothing')).rejects.toThrow(
      /no stream tally-nothing/,
    );
  });
});
