import { setTimeout as delay } from 'node:timers/promises';
import type { EventStore } from '../store/event-store.js';

/** A node of a cluster may learn of the newest events a moment after a consumer handled them. */
const ASK_AGAIN_AFTER_MS = 500;

/**
 * Tells which checkpoints lie beyond the end of the log: those of a PostgreSQL that is newer than the event store. Their
 * consumers would pass over every event up to there. The positions must have been read before, since the log grows.
 */
export const beyondTheLog = async (
  store: Pick<EventStore, 'end'>,
  positions: readonly (bigint | null)[],
): Promise<(position: bigint | null) => boolean> => {
  const isBeyond = (end: bigint | null) => (position: bigint | null) =>
    position !== null && (end === null || position > end);
  const first = isBeyond(await store.end());
  if (!positions.some(first)) return first;
  await delay(ASK_AGAIN_AFTER_MS);
  return isBeyond(await store.end());
};
