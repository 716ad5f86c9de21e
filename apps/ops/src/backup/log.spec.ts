import { describe, expect, it } from '@jest/globals';
import type { SetAside, StoredEvent } from '#event-sourcing/core/event.js';
import { recorded } from '#event-sourcing/testing/recorded.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { readLog } from './log.js';

const erasure = (readingId: string, more: Partial<StoredEvent> = {}): StoredEvent => {
  const place = { id: `event of ${readingId}`, revision: 3n, position: 64n };
  return {
    ...recorded(`reading-${readingId}`, { type: 'ReadingErased', data: { workspaceId: 'ws_1' } }, place),
    ...more,
  };
};

const setAside: SetAside = { consumers: null, by: 'operator:ada', reason: 'bad', at: '2026-04-04' };

const storeOf = (...events: StoredEvent[]): EventStore =>
  ({
    async *readAll() {
      yield* events;
    },
  }) as unknown as EventStore;

const [A, B, C] = ['a', 'b', 'c'].map((digit) => `${digit.repeat(8)}-0000-4000-8000-000000000000`) as [
  string,
  string,
  string,
];

describe('The log of a backup', () => {
  it('counts no reading as erased by an event that cannot be read, or is set aside', async () => {
    const { log, erased, notErased } = await readLog(
      storeOf(
        erasure(A),
        erasure(B, { data: '{"workspa' }),
        erasure(C, { setAside }),
        erasure(A, { setAside, revision: 4n }),
      ),
      64n,
    );
    expect(log.events).toBe(4);
    expect(erased).toEqual([{ readingId: A, workspaceId: 'ws_1' }]);
    expect(notErased).toEqual([B, C]);
  });

  it('counts no stream of others as a reading, whatever its events are called', async () => {
    const unreadable = erasure('bar', { data: '{"workspa' });
    const { log, erased, notErased } = await readLog(storeOf(erasure('foo'), unreadable), 64n);
    expect([log.events, erased, notErased]).toEqual([2, [], []]);
  });
});
