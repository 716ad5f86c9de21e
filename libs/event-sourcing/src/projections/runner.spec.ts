import { afterEach, beforeEach, expect, it, jest } from '@jest/globals';
import { InMemoryEventStore } from '../testing/in-memory-event-store.js';
import { addedToAppend } from '../testing/tally.js';
import type { Consumer } from './consumer.js';
import { runConsumer } from './runner.js';

beforeEach(() => void jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] }));
afterEach(() => void jest.useRealTimers());

const parkedRow = {
  consumer: 'settlement',
  key: 'bad',
  stream: 'tally-bad',
  revision: '0',
  position: '0',
  cause_stream: 'tally-bad',
  cause_revision: '0',
};

it('While the consumer is busy, attempts to release parked streams do not queue up', async () => {
  let looked = 0;
  let position: unknown = null;
  const query = async (
    asked: string | { text: string; values: readonly unknown[] },
    given: readonly unknown[] = [],
  ) => {
    const [text, values] = typeof asked === 'string' ? [asked, given] : [asked.text, asked.values];
    if (text.includes('set position')) position = values[1];
    if (text.includes('distinct on (cause_stream')) looked += 1;
    else if (text.includes('parked_event')) return { rows: [parkedRow], rowCount: 1 };
    if (text.includes('event_id, event_place')) return { rows: [], rowCount: 0 };
    if (text.includes('event_sourcing.consumer')) return { rows: [{ position, epoch: '0' }], rowCount: 1 };
    return { rows: [], rowCount: 1 };
  };
  const client = { query, release: () => undefined };
  const store = new InMemoryEventStore();
  await store.append('tally-1', 'no_stream', [addedToAppend('a', 'a')]);
  let begun = false;
  let finish = (): void => undefined;
  const consumer: Consumer = {
    name: 'settlement',
    categories: ['tally'],
    birth: 'beginning',
    steps: () => [],
    async dispatch() {
      begun = true;
      await new Promise<void>((resolve) => (finish = resolve));
    },
  };
  const stopping = new AbortController();
  const log = { warn: () => undefined, error: () => undefined };
  const pool = { query, connect: async () => client } as never;
  const ended = runConsumer(consumer, { pool, store, log }, stopping.signal);
  await jest.advanceTimersByTimeAsync(500);
  expect([begun, looked]).toEqual([true, 0]);
  await jest.advanceTimersByTimeAsync(10_000);
  expect(looked).toBe(0);
  finish();
  await jest.advanceTimersByTimeAsync(100);
  expect(looked).toBe(1);
  stopping.abort();
  await jest.advanceTimersByTimeAsync(100);
  await ended;
});
