import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { CorruptEvent } from '../core/event-catalogue.js';
import type { EventStore } from '../store/event-store.js';

/** A cluster node may receive the newest events shortly after a consumer handled them. */
const ASK_AGAIN_AFTER_MS = 500;

interface Row {
  readonly name: string;
  readonly position: string | null;
  readonly event_id: string | null;
  readonly event_place: string | null;
}

/**
 * The consumers whose checkpoint is beyond the end of the log, or whose last event the log does not have: PostgreSQL is
 * newer than the event store. They would miss every event up to there, also once the log has grown past it.
 * @param names only these consumers
 */
export const beyondTheLog = async (
  pool: Pick<Pool, 'query'>,
  store: Pick<EventStore, 'end' | 'read'>,
  names: readonly string[] | null = null,
): Promise<ReadonlySet<string>> => {
  // Before the end is read, since the log grows.
  const { rows } = await pool.query<Row>(
    `select name, position, event_id, event_place from event_sourcing.consumer
     where $1::text[] is null or name = any ($1)`,
    [names],
  );
  const first = await lost(store, rows);
  if (first.length === 0) return new Set();
  await delay(ASK_AGAIN_AFTER_MS);
  return new Set((await lost(store, first)).map(({ name }) => name));
};

const lost = async (
  store: Pick<EventStore, 'end' | 'read'>,
  rows: readonly Row[],
): Promise<readonly Row[]> => {
  const end = await store.end();
  const isThere = new Map<string, Promise<boolean>>();
  const found = await Promise.all(
    rows.map(async (row) => {
      const { position, event_id: id, event_place: place } = row;
      if (position !== null && (end === null || BigInt(position) > end)) return [row];
      if (id === null || place === null) return [];
      if (!isThere.has(id)) isThere.set(id, hasEvent(store, place, id));
      return (await isThere.get(id)) ? [] : [row];
    }),
  );
  return found.flat();
};

/** Also true when operators have truncated the stream after the event. */
const hasEvent = async (store: Pick<EventStore, 'read'>, place: string, id: string): Promise<boolean> => {
  const at = place.lastIndexOf('@');
  const from = BigInt(place.slice(at + 1));
  try {
    for await (const event of store.read(place.slice(0, at), { from, limit: 1 }))
      return event.id === id || event.revision > from;
    return false;
  } catch (error) {
    if (error instanceof CorruptEvent) return true;
    throw error;
  }
};
