import { describe, expect, it } from '@jest/globals';
import { InMemoryEventStore } from '@app/event-sourcing/testing/in-memory-event-store.js';
import { lazyEventStore } from './lazy-event-store.js';

const opened = () => {
  const inner = new InMemoryEventStore();
  const seen = { opened: 0 };
  const store = lazyEventStore(async () => {
    seen.opened += 1;
    return inner;
  });
  return { inner, seen, store };
};

const event = {
  id: '7f9c24e8-3b12-4f5e-9c1a-2d8e6b0a4c11',
  type: 'Noted',
  data: {},
  metadata: { occurredAt: '2026-04-12T00:00:00.000Z' },
} as never;

describe('lazyEventStore', () => {
  it('opens once, at the first call', async () => {
    const { seen, store } = opened();
    expect(seen.opened).toBe(0);
    await Promise.all([store.head(), store.end(), store.append('note-1', 'no_stream', [event])]);
    expect(seen.opened).toBe(1);
  });

  it('reads and follows what was appended', async () => {
    const { store } = opened();
    await store.append('note-1', 'no_stream', [event]);
    const found = [];
    for await (const { stream } of store.read('note-1')) found.push(stream);
    for await (const { stream } of store.readAll()) found.push(stream);
    const subscription = store.subscribe({ after: null, categories: [] });
    for await (const { stream } of subscription) {
      found.push(stream);
      break;
    }
    await subscription.close();
    expect(found).toEqual(['note-1', 'note-1', 'note-1']);
  });

  it('is opened again after it could not be', async () => {
    let isAway = true;
    const store = lazyEventStore(async () => {
      if (isAway) throw new Error('away');
      return new InMemoryEventStore();
    });
    await expect(store.head()).rejects.toThrow('away');
    isAway = false;
    expect(await store.head()).toBeNull();
  });

  it('is not opened to be closed', async () => {
    const { seen, store } = opened();
    await store.close();
    expect(seen.opened).toBe(0);
  });
});
