import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import type { RecordedOf } from '../core/event-catalogue.js';
import { defineProjection } from './projection.js';
import { view } from './view.js';
import { tallyEvents, totalView } from '../testing/tally.js';
import {
  rebuild,
  switchVersion,
  verify,
  Refused,
  beginVersion,
  dropVersions,
  forgetVerifications,
  oneAtATime,
} from './rebuild.js';
import { NAME, OPERATOR, totals, many, rebuildsUnderTest } from './testing/rebuilds-under-test.js';

interface Flagged {
  readonly stream: string;
  readonly sum: number;
  readonly revision: string;
  readonly flag: boolean;
}

const rebuilds = rebuildsUnderTest();
const { append, goLive, liveCaughtUp, dump, waiting, holdLive, whileHeld, consumers, states } = rebuilds;

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
