import { describe, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '../testing/in-memory-event-store.js';
import { addedToAppend } from '../testing/tally.js';
import { scopedEventStore } from './event-store.js';

const store = new InMemoryEventStore();
const scoped = scopedEventStore(store, ['tally', 'sum']);

describe('scopedEventStore', () => {
  it('appends to the module’s own categories', async () => {
    await scoped.append('tally-1', 'no_stream', [addedToAppend('1', 'a')]);
    expect(store.log.map(({ stream }) => stream)).toEqual(['tally-1']);
  });

  it.each(['credits-1', 'tallyho-1', 'ta', 'tall-y-1'])('refuses to append to %s', async (stream) => {
    await expect(async () => scoped.append(stream, 'no_stream', [addedToAppend('2', 'b')])).rejects.toThrow(
      TypeError,
    );
    expect(store.log).toHaveLength(1);
  });

  it('reads every category', async () => {
    await store.append('credits-1', 'no_stream', [addedToAppend('3', 'c')]);
    const read: string[] = [];
    for await (const { stream } of scoped.read('credits-1')) read.push(stream);
    for await (const { stream } of scoped.readAll()) read.push(stream);
    expect(read).toEqual(['credits-1', 'tally-1', 'credits-1']);
    expect(await scoped.head()).toBe(200n);
  });
});
