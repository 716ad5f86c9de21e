import { describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { findEvents } from './events.js';

const DAY_MS = 86_400_000;
const SINCE = Date.parse('2026-04-01T00:00:00.000Z');

/** @param occurred days from SINCE that the writer claims @param recorded days by the store's clock, if it has one */
const event = (id: string, occurred: number, recorded?: number): StoredEvent => ({
  id,
  stream: `tally-${id}`,
  revision: 0n,
  position: 1n,
  type: 'Added',
  data: {},
  metadata: {
    correlationId: 'req_1',
    causationId: 'req_1',
    workspaceId: 'ws_1',
    actor: 'bearer',
    occurredAt: new Date(SINCE + occurred * DAY_MS).toISOString(),
    schemaVersion: 1,
  },
  ...(recorded !== undefined && { recordedAt: SINCE + recorded * DAY_MS }),
});

/** @param newestFirst the log, backwards */
const found = async (...newestFirst: StoredEvent[]): Promise<string[]> => {
  const store = {
    async *readAll() {
      yield* newestFirst;
    },
  } as unknown as EventStore;
  const events = await findEvents(store, { type: 'Added' }, { since: SINCE, limit: 50 });
  return events.map(({ id }) => id);
};

describe('Events since a time', () => {
  it('include those before one that its writer dated back', async () => {
    expect(await found(event('c', 3, 3), event('forged', -900, 2), event('a', 1, 1))).toEqual([
      'c',
      'forged',
      'a',
    ]);
  });

  it('end with the first one that the store recorded earlier', async () => {
    expect(await found(event('b', 1, 1), event('a', 1, -1), event('unread', 1, 1))).toEqual(['b']);
  });
});
