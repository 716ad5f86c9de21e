import { describe, expect, it } from '@jest/globals';
import { StoreUnavailable, WrongExpectedRevision } from '../store/errors.js';
import { InMemoryEventStore } from '../testing/in-memory-event-store.js';
import { intercept } from '../store/event-store.js';
import { addedToAppend } from '../testing/tally.js';
import { appendSurely } from './command-executor.js';

const EVENTS = [addedToAppend('a', 'r')];
const CALLERS_TIME_MS = 300;

/** A store whose appends have an unknown outcome while `isAway` says so; it counts them. */
const unsteady = (isAway: (attempt: number) => boolean) => {
  const memory = new InMemoryEventStore();
  const count = { attempts: 0 };
  const store = intercept(memory, {
    append: async (...asked) => {
      count.attempts += 1;
      if (isAway(count.attempts)) throw new StoreUnavailable('no answer', true);
      return memory.append(...asked);
    },
  });
  return {
    store,
    memory,
    count,
    append: () => appendSurely(store, 's', 'no_stream', EVENTS, CALLERS_TIME_MS),
  };
};

describe('an append of unknown outcome', () => {
  it('is repeated until the store answers, and written once', async () => {
    const { append, memory, count } = unsteady((attempt) => attempt <= 3);
    expect(await append()).toMatchObject({ revision: 0n });
    expect(await append()).toMatchObject({ revision: 0n });
    expect(memory.log).toHaveLength(1);
    expect(count.attempts).toBe(5);
  });

  it('fails when the caller’s time is up; then each append is repeated once only, until the store answers', async () => {
    let away = true;
    const { append, count } = unsteady(() => away);
    const begunAt = performance.now();
    await expect(append()).rejects.toMatchObject({ name: 'StoreUnavailable', outcomeUnknown: true });
    expect(performance.now() - begunAt).toBeGreaterThanOrEqual(CALLERS_TIME_MS);
    expect(count.attempts).toBeGreaterThan(3);

    const before = count.attempts;
    await expect(append()).rejects.toThrow(StoreUnavailable);
    expect(count.attempts - before).toBe(2);

    away = false;
    await append();
    away = true;
    const since = count.attempts;
    await expect(append()).rejects.toThrow(StoreUnavailable);
    expect(count.attempts - since).toBeGreaterThan(3);
  });

  it('stays of unknown outcome while its repeats do not reach the store', async () => {
    const [unknown, unreached] = [true, false].map((outcome) => new StoreUnavailable('away', outcome));
    let [attempts, reachedAgainAt] = [0, 4];
    const memory = new InMemoryEventStore();
    const store = intercept(memory, {
      append: async (...asked) => {
        attempts += 1;
        if (attempts >= reachedAgainAt) return memory.append(...asked);
        throw attempts === 1 ? unknown! : unreached!;
      },
    });
    expect(await appendSurely(store, 's', 'no_stream', EVENTS, CALLERS_TIME_MS)).toMatchObject({
      revision: 0n,
    });

    [attempts, reachedAgainAt] = [0, Infinity];
    await expect(appendSurely(store, 's', 'no_stream', EVENTS, CALLERS_TIME_MS)).rejects.toBe(unknown);
    attempts = 1;
    await expect(appendSurely(store, 's', 'no_stream', EVENTS, CALLERS_TIME_MS)).rejects.toBe(unreached);
    expect(attempts).toBe(2);
  });

  it('is not repeated when another event stands there', async () => {
    const { append, memory, count } = unsteady((attempt) => attempt === 1);
    await memory.append('s', 'no_stream', [addedToAppend('other', 'r')]);
    await expect(append()).rejects.toThrow(WrongExpectedRevision);
    expect(count.attempts).toBe(2);
  });
});
