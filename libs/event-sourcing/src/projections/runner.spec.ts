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

/** PostgreSQL with this row or none parked. @param look answers the search for streams that are due */
const database = (rows: readonly object[], look: () => void) => {
  let position: unknown = null;
  const query = async (
    asked: string | { text: string; values: readonly unknown[] },
    given: readonly unknown[] = [],
  ) => {
    const [text, values] = typeof asked === 'string' ? [asked, given] : [asked.text, asked.values];
    if (text.includes('set position')) position = values[1];
    if (text.includes('distinct on (cause_stream')) look();
    else if (text.includes('parked_stream')) return { rows, rowCount: rows.length };
    if (text.includes('event_id, event_place')) return { rows: [], rowCount: 0 };
    if (text.includes('event_sourcing.consumer')) return { rows: [{ position, epoch: '0' }], rowCount: 1 };
    return { rows: [], rowCount: 1 };
  };
  return { query, connect: async () => ({ query, release: () => undefined }) } as never;
};

/** @returns stops it */
const start = (
  pool: never,
  store: InMemoryEventStore,
  given: Partial<Consumer>,
  warn: (details: object, message: string) => void = () => undefined,
) => {
  const consumer: Consumer = {
    name: 'settlement',
    categories: ['tally'],
    birth: 'beginning',
    steps: () => [],
    ...given,
  };
  const stopping = new AbortController();
  const ended = runConsumer(consumer, { pool, store, log: { warn, error: warn } }, stopping.signal);
  return async () => {
    stopping.abort();
    await jest.advanceTimersByTimeAsync(100);
    await ended;
  };
};

it('While the consumer is busy, attempts to release parked streams do not queue up', async () => {
  let looked = 0;
  const store = new InMemoryEventStore();
  await store.append('tally-1', 'no_stream', [addedToAppend('a', 'a')]);
  let begun = false;
  let finish = (): void => undefined;
  const stop = start(
    database([parkedRow], () => (looked += 1)),
    store,
    {
      async dispatch() {
        begun = true;
        await new Promise<void>((resolve) => (finish = resolve));
      },
    },
  );
  await jest.advanceTimersByTimeAsync(500);
  expect([begun, looked]).toEqual([true, 0]);
  await jest.advanceTimersByTimeAsync(10_000);
  expect(looked).toBe(0);
  finish();
  await jest.advanceTimersByTimeAsync(100);
  expect(looked).toBe(1);
  await stop();
});

it.each([
  ['is parked', [parkedRow], 'parked streams were not tried again'],
  ['is parked any more or yet', [], null],
])('A search for parked streams that fails is logged only while something %s', async (_, rows, said) => {
  let looked = 0;
  const logged = new Set<string>();
  const away = database(rows, () => {
    looked += 1;
    throw new RangeError('no answer');
  });
  const stop = start(away, new InMemoryEventStore(), {}, (_details, message) => void logged.add(message));
  await jest.advanceTimersByTimeAsync(60_000);
  expect(looked).toBeGreaterThan(0);
  expect([...logged]).toEqual(said === null ? [] : [said]);
  await stop();
});
