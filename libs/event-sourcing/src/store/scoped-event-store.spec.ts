import { describe, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../testing/in-memory-event-store.js';
import { addedToAppend } from '../testing/tally.js';
import { scopedEventStore } from './event-store.js';

const store = new InMemoryEventStore();
const scoped = scopedEventStore(store, ['tally', 'sum']);

describe('scopedEventStore', () => {
  it.each(['credits-1', 'tallyho-1', 'ta', 'tall-y-1'])('refuses to append to %s', async (stream) => {
    await expect(async () => scoped.append(stream, 'no_stream', [addedToAppend('2', 'b')])).rejects.toThrow(
      TypeError,
    );
    expect(store.log).toHaveLength(0);
  });
});
