import { expect, it } from '@jest/globals';
import { getEventListeners } from 'node:events';
import { intercept } from '../testing/intercepted-store.js';
import { runConsumer } from './runner.js';
import { consumersUnderTest, recording } from './testing/consumers-under-test.js';

const consumers = consumersUnderTest();

/** What a signal keeps: its listeners, and what AbortSignal.any has made of it, which Node 20 never forgets. */
const keptBy = (signal: AbortSignal): number =>
  Object.getOwnPropertySymbols(signal)
    .filter((symbol) => symbol.description === 'kDependantSignals')
    .map((symbol) => (signal as unknown as Record<symbol, { readonly size: number } | undefined>)[symbol])
    .reduce((sum, made) => sum + (made?.size ?? 0), getEventListeners(signal, 'abort').length);

it('a consumer that reopens its subscription leaves nothing of the earlier ones at the signal of the process', async () => {
  const { pool, store } = consumers;
  const stopping = new AbortController();
  let opened = 0;
  const ending = intercept(store, {
    subscribe: () => {
      opened += 1;
      return { [Symbol.asyncIterator]: async function* () {}, close: () => Promise.resolve() };
    },
  });
  const log = { warn: () => undefined, error: () => undefined };
  const running = runConsumer(recording, { store: ending, pool, log }, stopping.signal);
  try {
    await consumers.eventually(async () => opened >= 5);
    // One of the subscription that is open, and one of the pause before the next.
    expect(keptBy(stopping.signal)).toBeLessThanOrEqual(2);
  } finally {
    stopping.abort();
    await running;
  }
  expect(keptBy(stopping.signal)).toBe(0);
});
