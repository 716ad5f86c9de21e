import type { Pool } from 'pg';
import { beyondTheLog } from './consumer-lag.js';
import type { EventStore } from '../store/event-store.js';

/** Longer than clocks may differ while there is work. Events that are handled once more have no second effect. */
const MARGIN_MS = 60_000;

/**
 * After a restore of an event store that is older than PostgreSQL: moves every checkpoint after the last event that both
 * have back to it, and parks no stream after it, so that consumers handle what the log has got since. What their rows have of the lost events remains:
 * replay every projection afterwards.
 * @returns how many consumers were moved; 0 when the two belong together
 */
export const rejoinLog = async (
  pool: Pool,
  store: Pick<EventStore, 'end' | 'read' | 'readAll'>,
): Promise<number> => {
  const beyond = await beyondTheLog(pool, store);
  if (beyond.size === 0) return 0;
  // Their checkpoints have not moved since the log was another one.
  const { rows } = await pool.query<{ parted: number }>(
    `select (extract(epoch from min(updated_at)) * 1000)::float8 as parted
     from event_sourcing.consumer where name = any ($1)`,
    [[...beyond]],
  );
  const last = String(await lastBefore(store, rows[0]!.parted - MARGIN_MS));
  // What waits for an event that the log has lost would keep the stream's new events from being handled.
  const { rowCount } = await pool.query(
    `with freed as (
       delete from event_sourcing.parked_stream where position > coalesce(nullif($1, 'null')::numeric, -1)
     )
     update event_sourcing.consumer
     set position = nullif($1, 'null')::numeric, event_id = null, event_place = null, status = 'running', error = null,
         halted_stream = null, halted_position = null, epoch = epoch + 1, updated_at = now()
     where position > coalesce(nullif($1, 'null')::numeric, -1)`,
    [last],
  );
  return rowCount ?? 0;
};

const lastBefore = async (store: Pick<EventStore, 'readAll'>, time: number): Promise<bigint | null> => {
  for await (const { position, recordedAt } of store.readAll({ direction: 'backwards' }))
    if (recordedAt === undefined || recordedAt < time) return position;
  return null;
};
