import { describe, expect, it } from '@jest/globals';
import type { Interval } from '#event-sourcing/store/server-time.js';
import { judgeClocks, type ClockReadings } from './trusted-time.js';

const DAY_MS = 86_400_000;
const BOUNDS = { warnMs: 2_000, refuseMs: 10_000 };
const exactly = (ms: number): Interval => ({ least: ms, most: ms });
const judge = (
  postgres: Interval | number | null,
  eventStore: Interval | number | null,
  others: ClockReadings['others'] = [],
) => {
  const read = (one: Interval | number | null) => (typeof one === 'number' ? exactly(one) : one);
  return judgeClocks({ postgres: read(postgres), eventStore: read(eventStore), others }, BOUNDS);
};

describe('three clocks', () => {
  it.each([
    [-1_900, { least: -1_000, most: 1_000 }, 'trusted'],
    [2_001, 2_001, 'warning'],
    [10_000, 10_000, 'warning'],
    [10_001, 10_001, 'refused'],
    [-10_001, -10_001, 'refused'],
    // Only what is certain counts: a header is up to two seconds old, and a lower bound says nothing of a clock ahead.
    [0, { least: -11_500, most: -9_500 }, 'warning'],
    [0, { least: -40 * DAY_MS, most: Infinity }, 'trusted'],
    [0, { least: 40 * DAY_MS, most: Infinity }, 'refused'],
    // Two clocks, of which PostgreSQL's is needed.
    [60_000, null, 'refused'],
    [null, 0, 'unknown'],
    [null, null, 'unknown'],
    [null, 60_000, 'refused'],
  ] as const)('at %j and %j from this one are %s', (postgres, eventStore, level) => {
    expect(judge(postgres, eventStore).level).toBe(level);
  });

  it('show which is wrong, when the two others agree', () => {
    const wrong = (...clocks: [number, number]) => {
      const { wrong: name, message } = judge(...clocks);
      return [name, message];
    };
    expect(wrong(-40 * DAY_MS, -40 * DAY_MS - 500)).toEqual([
      'process',
      'the clock of this process is 40 days ahead of that of the event store, and is wrong',
    ]);
    expect(wrong(22 * DAY_MS, 0)).toEqual([
      'postgres',
      'the clock of PostgreSQL is 22 days ahead of that of this process, and is wrong',
    ]);
    expect(wrong(0, -60_000)).toEqual([
      'event_store',
      'the clock of the event store is 60 s behind that of this process, and is wrong',
    ]);
  });

  it('that all differ show no culprit', () => {
    expect(judge(30_000, -30_000)).toMatchObject({
      level: 'refused',
      apartMs: 60_000,
      wrong: null,
      message: expect.stringMatching(/which of them is wrong is not known$/),
    });
  });
});

it('Another process that is off causes a warning here, and names it', () => {
  expect(
    judge(0, 0, [
      { name: 'api on a', aheadMs: 100 },
      { name: 'worker on b', aheadMs: 40 * DAY_MS },
      { name: 'worker on c', aheadMs: -150_000 },
    ]),
  ).toMatchObject({
    level: 'warning',
    wrong: null,
    message:
      'the clocks agree, except for worker on b (40 days ahead of PostgreSQL), worker on c (3 minutes behind PostgreSQL)',
  });
});
