import { describe, expect, it, jest } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { InMemoryEventStore } from '../testing/in-memory-event-store.js';
import { intercept } from '../testing/intercepted-store.js';
import { contextOf, tally, tallyEvents } from '../testing/tally.js';
import { CommandExecutor } from './command-executor.js';
import { AppendPacing } from './append-pacing.js';

/** Delays reads and appends unevenly, as a network does. A process that must read first is later than others. */
const distant = (store: InMemoryEventStore) =>
  intercept(store, {
    append: async (...args) => {
      await delay(8 + 8 * Math.random());
      return store.append(...args);
    },
    read: async function* (...args) {
      await delay(8 + 8 * Math.random());
      yield* store.read(...args);
    },
  });

const PAIRS = 100;
const CALLERS = 2;
const EACH = 10;

/** Two processes whose callers append to one stream without a pause. */
const compete = async (): Promise<{ done: number; refused: readonly string[]; logged: number }> => {
  const store = new InMemoryEventStore();
  const done = { here: 0, there: 0 };
  const refused: string[] = [];
  const goesOn = (): boolean => refused.length === 0 && Math.min(done.here, done.there) < EACH;
  const work = async (name: keyof typeof done): Promise<void> => {
    const executor = new CommandExecutor(distant(store), tallyEvents, tally, { cachedStreams: 1 });
    const caller = async (index: number): Promise<void> => {
      for (let n = 0; goesOn(); n += 1) {
        const ref = `${name} ${index} ${n}`;
        await executor.execute('1', { type: 'add', by: 1, ref }, contextOf(ref)).then(
          () => (done[name] += 1),
          (error: unknown) => refused.push(`${ref}: ${String(error)}`),
        );
      }
    };
    await Promise.all(Array.from({ length: CALLERS }, (_, index) => caller(index)));
  };
  await Promise.all([work('here'), work('there')]);
  return { done: done.here + done.there, refused, logged: store.log.length };
};

it('Two processes that append to one stream without a pause both make progress: no command is refused as too busy', async () => {
  const pairs = await Promise.all(Array.from({ length: PAIRS }, () => compete()));
  expect(pairs.flatMap(({ refused }) => refused)).toEqual([]);
  expect(pairs.filter(({ done, logged }) => logged !== done)).toEqual([]);
});

describe('a process alone on a stream', () => {
  /** Counts the appends up to the next pause, including the one after it. */
  const untilPause = (pacing: AppendPacing): number => {
    for (let count = 1; ; count += 1) if (pacing.approach().pauseMs > 0) return count;
  };

  it('pauses for others, less often the longer it has been alone', () => {
    const pacing = new AppendPacing();
    expect([1, 2, 3, 4].map(() => untilPause(pacing))).toEqual([16, 32, 64, 64]);
  });

  it('pauses for as long as a read and an append take, whatever the last one took', () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(0);
    try {
      const pacing = new AppendPacing();
      const append = (milliseconds: number): void => {
        pacing.begin();
        now.mockReturnValue(performance.now() + milliseconds);
        pacing.end();
      };
      const pause = (): number => {
        for (;;) {
          const { pauseMs } = pacing.approach();
          if (pauseMs > 0) return pauseMs;
        }
      };
      for (let n = 0; n < 100; n += 1) append(8);
      expect(pause()).toBeCloseTo(2 * 8);
      append(1_000);
      expect(pause()).toBeCloseTo(2 * (8 + (50 - 8) / 8));
    } finally {
      now.mockRestore();
    }
  });

  it('reads before each append for five seconds after it met others, then pauses as often as at first', () => {
    const now = jest.spyOn(performance, 'now').mockReturnValue(0);
    try {
      const pacing = new AppendPacing();
      for (let pauses = 0; pauses < 3; pauses += 1) untilPause(pacing);
      pacing.sawRivals();
      now.mockReturnValue(4_999);
      for (let count = 0; count < 100; count += 1) expect(pacing.approach().contended).toBe(true);
      now.mockReturnValue(5_000);
      expect(untilPause(pacing)).toBe(16);
    } finally {
      now.mockRestore();
    }
  });
});

it('After a conflict, every other try goes at once, and the others after up to a read and an append', () => {
  const pacing = new AppendPacing();
  expect([1, 2, 3, 4].map((attempt) => pacing.pauseAfterConflict(attempt, 1))).toEqual([0, 10, 0, 10]);
  expect(pacing.pauseAfterConflict(2, 0.5)).toBe(5);
});
