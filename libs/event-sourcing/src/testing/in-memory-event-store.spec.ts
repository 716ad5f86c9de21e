import { describe, expect, it } from '@jest/globals';
import { WrongExpectedRevision } from '../store/errors.js';
import type { StoredEvent } from '../core/event.js';
import { InMemoryEventStore } from './in-memory-event-store.js';
import { addedToAppend } from './tally.js';

const collect = async (events: AsyncIterable<StoredEvent>): Promise<bigint[]> => {
  const revisions: bigint[] = [];
  for await (const { revision } of events) revisions.push(revision);
  return revisions;
};

const filled = async (count: number) => {
  const store = new InMemoryEventStore();
  await store.append(
    'tally-1',
    'no_stream',
    Array.from({ length: count }, (_, i) => addedToAppend(`id${i}`, `r${i}`)),
  );
  return store;
};

describe('InMemoryEventStore', () => {
  it('orders revisions as numbers: 9, 10, 11', async () => {
    const store = await filled(13);
    expect(await collect(store.read('tally-1', { from: 9n, limit: 3 }))).toEqual([9n, 10n, 11n]);
    expect(await collect(store.read('tally-1', { from: 11n, direction: 'backwards', limit: 3 }))).toEqual([
      11n,
      10n,
      9n,
    ]);
    expect(await collect(store.readAll({ after: 900n, limit: 3 }))).toEqual([9n, 10n, 11n]);
  });

  it('refuses a wrong revision, and treats the same events as a repeated append', async () => {
    const store = await filled(2);
    await expect(store.append('tally-1', 'no_stream', [addedToAppend('other', 'x')])).rejects.toThrow(
      WrongExpectedRevision,
    );
    await expect(store.append('tally-1', 5n, [addedToAppend('other', 'x')])).rejects.toThrow(
      WrongExpectedRevision,
    );
    expect(await store.append('tally-1', 0n, [addedToAppend('id1', 'r1')])).toEqual({
      revision: 1n,
      position: 200n,
    });
    expect(store.log).toHaveLength(2);
  });

  it('delivers history, then appended events, of the requested categories', async () => {
    const store = await filled(2);
    const subscription = store.subscribe({ after: 100n, categories: ['tally'] });
    const seen: bigint[] = [];
    for await (const { position } of subscription) {
      seen.push(position);
      if (seen.length === 1) {
        await store.append('other-1', 'no_stream', [addedToAppend('o', 'o')]);
        await store.append('tally-1', 1n, [addedToAppend('id2', 'r2')]);
      }
      if (seen.length === 2) await subscription.close();
    }
    expect(seen).toEqual([200n, 400n]);
  });
});
