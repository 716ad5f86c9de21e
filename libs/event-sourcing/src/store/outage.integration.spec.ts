import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { collect } from './event-store.js';
import { StoreUnavailable } from './errors.js';
import { newEvents, newStream, storeUnderTest } from './testing/store-under-test.js';

const port = storeUnderTest();
const { take, stopServer } = port;

describe('a server that stops', () => {
  const appendWhenBack = async (stream: string): Promise<void> => {
    // The same event at each try: the outcome of one may be unknown.
    const events = newEvents(1);
    for (let attempt = 1; ; attempt += 1) {
      try {
        await port.store.append(stream, 'no_stream', events);
        return;
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || attempt === 600) throw error;
        await delay(100);
      }
    }
  };

  it('makes every call fail as unavailable; after its return all work again with the same client', async () => {
    const stream = newStream();
    await port.store.append(stream, 'no_stream', newEvents(1));
    const startAgain = await stopServer();
    await expect(port.store.append(stream, 0n, newEvents(1))).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(collect(port.store.read(stream))).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(collect(port.store.readAll())).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(port.store.head()).rejects.toBeInstanceOf(StoreUnavailable);
    await expect(take(1, { after: null, categories: ['tally'] })).rejects.toBeInstanceOf(StoreUnavailable);
    await startAgain();
    await appendWhenBack(newStream());
    expect(await collect(port.store.read(stream))).toHaveLength(1);
  });

  it('loses no acknowledged event, and settles every append in flight', async () => {
    const inFlight = Array.from({ length: 200 }, () => {
      const stream = newStream('flight');
      return port.store.append(stream, 'no_stream', newEvents(1)).then(
        () => ({ stream, acknowledged: true }),
        (error: unknown) => ({ stream, acknowledged: false, error }),
      );
    });
    const startAgain = await stopServer();
    const results = await Promise.all(inFlight);
    await startAgain();
    await appendWhenBack(newStream());
    for (const result of results) {
      if (!result.acknowledged) expect('error' in result && result.error).toBeInstanceOf(StoreUnavailable);
      else expect(await collect(port.store.read(result.stream))).toHaveLength(1);
    }
  });
});
