import { beforeEach, describe, expect, it } from '@jest/globals';
import { ClockUntrusted } from '#event-sourcing/core/clock.js';
import { StoreUnavailable } from '#event-sourcing/store/errors.js';
import type { ServerTime } from '#event-sourcing/store/event-store.js';
import { TrustedTime, whileTrusted } from './trusted-time.js';

const DAY_MS = 86_400_000;
const START = Date.parse('2026-11-22T12:00:00.000Z');

/** True time since START, and how far each clock is off it (ms). */
let passed: number;
let off: { process: number; postgres: number; store: number };
let shows: 'a date' | 'its newest record' | 'nothing';
let isStoreAway: boolean;
let asked: number;
let isPostgresAway: boolean;
let said: string[];
let time: TrustedTime;

beforeEach(() => {
  [passed, asked, isPostgresAway, isStoreAway, shows, said] = [0, 0, false, false, 'a date', []];
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
      async *readAll() {
        if (isStoreAway) throw new StoreUnavailable('no answer', false);
        if (shows !== 'nothing') yield { recordedAt: START + passed + off.store } as never;
      },
      serverTime: async (): Promise<ServerTime | null> =>
        shows === 'a date'
          ? { date: START + passed + off.store - 500, sentAt: passed, receivedAt: passed }
          : null,
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

  it('has the newest record of the event store as a lower bound, where that shows no date', async () => {
    shows = 'its newest record';
    off.store = -DAY_MS;
    expect(await time.now()).toBe(START);
    [off.store, passed] = [DAY_MS, 20_000];
    await expect(time.now()).rejects.toThrow(ClockUntrusted);
    expect(time.verdict.wrong).toBe('event_store');
  });

  it('needs PostgreSQL: what its client throws is the answer, and nothing is logged', async () => {
    shows = 'nothing';
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
    [isStoreAway, off.process, shows] = [false, 0, 'nothing'];
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
