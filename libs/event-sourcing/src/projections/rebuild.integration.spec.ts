import { describe, expect, it } from '@jest/globals';
import { intercept, type EventStore } from '../store/event-store.js';
import { totalView } from '../testing/tally.js';
import { rebuild, switchVersion, verify, dropVersions } from './rebuild.js';
import { NAME, OPERATOR, totals, totalsBy, many, rebuildsUnderTest } from './testing/rebuilds-under-test.js';

const rebuilds = rebuildsUnderTest();
const { append, goLive, liveCaughtUp, dump, states } = rebuilds;

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
