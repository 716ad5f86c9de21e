import { expect, it } from '@jest/globals';
import { type LinkStore, LinkUse, type Uses } from './links.js';

const NOON = Date.parse('2026-11-23T12:00:00.000Z');

it('writes the uses of many links together, and loses none when a write fails', async () => {
  const written: object[] = [];
  let isAway = false;
  let now = NOON;
  const addUses = async (uses: Uses) => {
    if (isAway) throw new Error('away');
    written.push(Object.fromEntries(uses));
  };
  const use = new LinkUse({ addUses } as unknown as LinkStore, { now: () => now }, { warn: () => undefined });
  await use.write();
  expect(written).toEqual([]);
  use.note('a');
  use.note('b');
  now += 1_000;
  use.note('a');
  expect(use.withWaiting({ linkId: 'a', uses: 5, lastUsedAt: null })).toEqual({
    linkId: 'a',
    uses: 7,
    lastUsedAt: '2026-11-23T12:00:01.000Z',
  });
  isAway = true;
  const failing = use.write();
  use.note('b');
  await failing;
  isAway = false;
  await use.beforeApplicationShutdown();
  expect(written).toEqual([
    {
      a: { count: 2, last: '2026-11-23T12:00:01.000Z' },
      b: { count: 2, last: '2026-11-23T12:00:01.000Z' },
    },
  ]);
  expect(use.withWaiting({ linkId: 'a', uses: 7, lastUsedAt: null }).uses).toBe(7);
});
