import { setTimeout as delay } from 'node:timers/promises';
import type { EventStore } from '../store/event-store.js';

/** A cluster node may receive the newest events shortly after a consumer handled them. */
const ASK_AGAIN_AFTER_MS = 500;

/**
 * Returns a test for positions beyond the end of the log. Such a checkpoint means that PostgreSQL is newer than the
 * event store: its consumer would miss every event up to there. Read the positions before the call, since the log
 * grows.
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
