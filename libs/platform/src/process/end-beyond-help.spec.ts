import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { endBeyondHelp } from './stopping.js';

beforeEach(() => void jest.useFakeTimers());
afterEach(() => void jest.useRealTimers());

it.each<[string, number, (second: number) => boolean, number | null]>([
  ['once it has been unusable for the given time', 30, (second) => second >= 10, 40],
  ['counted anew after it recovered', 30, (second) => second >= 10 && second !== 35, 66],
  ['at once when nothing probes the process', 0, (second) => second >= 10, 10],
  ['never when it recovers', 30, (second) => second % 30 !== 0, null],
])('A process with an unusable connection to the event store ends %s', async (_, after, isUnusable, ends) => {
  const began = performance.now();
  const second = () => Math.round((performance.now() - began) / 1_000);
  const connection = {
    get beyondHelp() {
      return isUnusable(second());
    },
  };
  const stopping = new AbortController();
  const running = endBeyondHelp(connection, after * 1_000).run(stopping.signal);
  const ended = running.then(
    () => null,
    () => second(),
  );
  for (let passed = 0; passed < 100; passed += 1) await jest.advanceTimersByTimeAsync(1_000);
  stopping.abort();
  expect(await ended).toBe(ends);
});
