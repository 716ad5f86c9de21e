import { beforeEach, describe, expect, it, jest } from '@jest/globals';
import { InMemoryEventStore } from '../testing/in-memory-event-store.js';
import { addedToAppend } from '../testing/tally.js';
import type { StoredEvent } from '../core/event.js';
import { StoreUnavailable } from './errors.js';
import { intercept, type EventStore } from './event-store.js';
import { eventsUpTo } from './events-up-to.js';

// Without a stop, one would wait for events that never come.
jest.setTimeout(10_000);

/** Several times the stretch that is read at the end. */
const OTHERS = 2_000;

let store: InMemoryEventStore;
const append = (stream: string) =>
  store.append(stream, 'no_stream', [addedToAppend(`id of ${stream}`, stream)]);
const appendOthers = async (count: number) => {
  for (let index = 0; index < count; index += 1) await append(`other-${store.log.length}`);
};
const streamsOf = async (events: AsyncIterable<StoredEvent>): Promise<string[]> => {
  const streams: string[] = [];
  for await (const { stream } of events) streams.push(stream);
  return streams;
};
const until = (to: bigint, from: EventStore = store, after: bigint | null = null, silentMs?: number) =>
  streamsOf(eventsUpTo(from, { categories: ['tally'], after, to }, silentMs));

/** A store that counts the events read from it; those that its subscriptions deliver do not count. */
const counting = (doors: Partial<EventStore> = {}) => {
  let read = 0;
  const from = intercept(store, {
    async *readAll(options) {
      for await (const event of store.readAll(options)) {
        read += 1;
        yield event;
      }
    },
    ...doors,
  });
  return { from, reads: () => read };
};

beforeEach(async () => {
  store = new InMemoryEventStore();
  await append('tally-first');
  await appendOthers(OTHERS);
  await append('tally-middle');
  await appendOthers(OTHERS);
});

describe('events of some categories up to a position', () => {
  it('are those after the one position and up to the other', async () => {
    await append('tally-last');
    const [first, last] = [store.log[0]!.position, store.log.at(-1)!.position];
    await append('tally-later');
    expect(await until(last)).toEqual(['tally-first', 'tally-middle', 'tally-last']);
    expect(await until(last, store, first)).toEqual(['tally-middle', 'tally-last']);
    expect(await until(last - 1n)).toEqual(['tally-first', 'tally-middle']);
    expect(await until(last, store, last - 1n)).toEqual(['tally-last']);
    expect(await until(last, store, last)).toEqual([]);
  });

  it('come without the others, except for the last few', async () => {
    const { from, reads } = counting();
    expect(await until((await store.head())!, from)).toEqual(['tally-first', 'tally-middle']);
    expect(reads()).toBeLessThan(OTHERS);
  });

  it('are complete when the server reports no checkpoint', async () => {
    const silent = intercept(store, {
      subscribe: ({ after, categories }) => store.subscribe({ after, categories }),
    });
    expect(await until((await store.head())!, silent, null, 20)).toEqual(['tally-first', 'tally-middle']);
  });

  it('fail when the subscription fails', async () => {
    const failing = intercept(store, {
      subscribe: () => ({
        async *[Symbol.asyncIterator]() {
          yield store.log[0]!;
          throw new StoreUnavailable('cut off', false);
        },
        close: () => Promise.resolve(),
      }),
    });
    await expect(until((await store.head())!, failing)).rejects.toThrow('cut off');
  });
});
