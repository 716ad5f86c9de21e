import { beforeEach, describe, expect, it } from '@jest/globals';
import { ClockUntrusted } from '#event-sourcing/core/clock.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import type { ServerTime } from '#event-sourcing/store/event-store.js';
import type { Interval } from '#event-sourcing/store/server-time.js';
import { judgeClocks, TrustedTime, type ClockReadings } from './trusted-time.js';
import { whileTrusted } from './watch-time.js';

const DAY_MS = 86_400_000;
const START = Date.parse('2026-11-22T12:00:00.000Z');

/** True time since START, and how far each clock is off it (ms). */
let passed: number;
let off: { process: number; postgres: number; store: number };
let showsDate: boolean;
let isStoreAway: boolean;
let asked: number;
let isPostgresAway: boolean;
let said: string[];
let time: TrustedTime;

beforeEach(() => {
  [passed, asked, isPostgresAway, isStoreAway, showsDate, said] = [0, 0, false, false, true, []];
  off = { process: 0, postgres: 0, store: 0 };
  const log = (level: string) => (_: object, message: string) => void said.push(`${level}: ${message}`);
  time = new TrustedTime({
    pool: {
      query: async (text: string) => {
        if (isPostgresAway) throw new Error('connection terminated');
        if (text.includes('heartbeat')) return { rows: [] };
        asked += 1;
        return { rows: [{ now: START + passed + off.postgres }] };
      },
    } as never,
    store: {
      serverTime: async (): Promise<ServerTime | null> => {
        if (isStoreAway) throw new StoreUnavailable('no answer', false);
        return showsDate
          ? { date: START + passed + off.store - 500, sentAt: passed, receivedAt: passed }
          : null;
      },
    },
    clock: { now: () => START + passed + off.process },
    config: { CLOCK_REFUSE_MS: 10_000 },
    log: { info: log('info'), warn: log('warn'), error: log('error') } as never,
    elapsed: () => passed,
  });
});

describe('the trusted time', () => {
  it('is this process’s own while the clocks agree, and costs nothing until it is old', async () => {
    expect(await time.now()).toBe(START);
    passed = 14_000;
    expect(await time.now()).toBe(START + 14_000);
    expect(asked).toBe(1);
    passed = 16_000;
    await time.now();
    expect(asked).toBe(2);
    expect(said).toEqual([]);
  });

  it('is refused while this process is 40 days ahead, and comes back by itself', async () => {
    off.process = 40 * DAY_MS;
    await expect(time.now()).rejects.toThrow(ClockUntrusted);
    expect(time.verdict).toMatchObject({ level: 'refused', wrong: 'process' });
    expect(time.aheadOfPostgres).toBe(40 * DAY_MS);
    await expect(time.now()).rejects.toThrow(/40 days ahead/);
    expect(asked).toBe(1);
    off.process = 0;
    expect(await time.now()).toBe(START);
    expect(said).toEqual([
      expect.stringMatching(/^error: no work that time causes until the clocks agree: .* is wrong$/),
      'info: the clocks agree',
    ]);
  });

  it('is compared again before it is used, when the clock was set or the machine was suspended', async () => {
    await time.now();
    off.process = 3_600_000;
    expect(time.isFresh()).toBe(false);
    await expect(time.now()).rejects.toThrow(ClockUntrusted);
    off.process = 0;
    await time.now();
    // The monotonic clock stands still while a machine sleeps; the servers have moved on as the wall clock has.
    off = { process: 3_600_000, postgres: 3_600_000, store: 3_600_000 };
    expect(await time.now()).toBe(START + 3_600_000);
  });

  it('needs PostgreSQL: what its client throws is the answer, and nothing is logged', async () => {
    showsDate = false;
    await time.now();
    isPostgresAway = true;
    expect(await time.now()).toBe(START);
    passed = 20_000;
    await expect(time.now()).rejects.toThrow(/connection terminated/);
    expect(time.verdict.level).toBe('unknown');
    isPostgresAway = false;
    expect(await time.now()).toBe(START + 20_000);
    expect(said).toEqual([]);
  });
});

describe('while the event store does not answer, the trusted time', () => {
  it.each([
    ['is not known', 0, StoreUnavailable],
    ['is refused when this process and PostgreSQL differ', 40 * DAY_MS, ClockUntrusted],
  ])('%s, and is trusted again once it answers', async (_, process, error) => {
    await time.now();
    isStoreAway = true;
    off.process = process;
    await time.compare();
    await expect(time.now()).rejects.toThrow(error);
    [isStoreAway, off.process, showsDate] = [false, 0, false];
    expect(await time.now()).toBe(START);
  });
});

describe('work that runs while the time is trusted', () => {
  it('starts after the first comparison, stops when the clocks differ, and starts again', async () => {
    const runs: AbortSignal[] = [];
    const loop = {
      name: 'work',
      run: (signal: AbortSignal) =>
        new Promise<void>((resolve) => {
          runs.push(signal);
          signal.addEventListener('abort', () => resolve());
        }),
    };
    const stopping = new AbortController();
    const ended = whileTrusted(time, loop).run(stopping.signal);
    // Longer than it takes to look at the clocks again.
    const look = () => new Promise((resolve) => setTimeout(resolve, 600));
    const states = async () => {
      await look();
      return runs.map(({ aborted }) => aborted);
    };
    expect(await states()).toEqual([]);
    await time.compare();
    expect(await states()).toEqual([false]);
    off.process = DAY_MS;
    await time.compare();
    expect(await states()).toEqual([true]);
    off.process = 0;
    await time.compare();
    expect(await states()).toEqual([true, false]);
    stopping.abort();
    await ended;
    expect(runs.map(({ aborted }) => aborted)).toEqual([true, true]);
  });
});

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
    // Only what is certain counts: a header is up to two seconds old.
    [0, { least: -11_500, most: -9_500 }, 'warning'],
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
