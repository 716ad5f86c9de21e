import type { StoredEvent } from '../core/event.js';
import type { EventStore } from './event-store.js';
import { serverClockAt } from './server-time.js';

/**
 * How long ago the store recorded an event that was just read (ms): a difference on the store's clock, so that no other
 * machine's clock matters.
 * @param otherwise the time for a store that shows no clock (ms since the epoch)
 */
export const ageOf = async (
  { recordedAt, metadata }: Pick<StoredEvent, 'recordedAt' | 'metadata'>,
  store: Pick<EventStore, 'serverTime'>,
  otherwise = Date.now(),
): Promise<number> => {
  const shown = await store.serverTime().catch(() => null);
  const now = shown ? serverClockAt(shown, performance.now()).least : otherwise;
  return Math.max(0, now - (recordedAt ?? Date.parse(metadata.occurredAt)));
};
