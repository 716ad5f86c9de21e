import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { rebuild, switchVersion, verify } from './rebuild.js';
import { NAME, OPERATOR, totals, many, rebuildsUnderTest } from './testing/rebuilds-under-test.js';

const rebuilds = rebuildsUnderTest();
const { append, goLive, liveCaughtUp, consumers } = rebuilds;

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
