import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { CorruptEvent } from '../core/event-catalogue.js';
import type { EventStore } from '../store/event-store.js';
import type { StoredEvent } from '../core/event.js';
import { categoryOf } from '../core/stream-name.js';
import { ageOf } from '../store/server-time.js';

/** A cluster node may receive the newest events shortly after a consumer handled them. */
const ASK_AGAIN_AFTER_MS = 500;

interface Consumed {
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
  const { rows } = await pool.query<Consumed>(
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
  rows: readonly Consumed[],
): Promise<readonly Consumed[]> => {
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

/** How far a consumer is behind the log. */
export interface ConsumerLag {
  readonly consumer: string;
  /** `beyond_the_log`: its checkpoint is from another log. It does not run, since it would miss events. */
  readonly status: 'running' | 'halted' | 'beyond_the_log';
  readonly position: bigint | null;
  /** Unhandled events that it follows; a lower bound when `atLeast`. */
  readonly events: number;
  readonly atLeast: boolean;
  /** Seconds since the store recorded the oldest unhandled event, by the store's clock; 0 when there is none. */
  readonly seconds: number;
  /** Why it halted. */
  readonly error: string | null;
  readonly parkedStreams: number;
}

export interface LagOptions {
  /** Milliseconds since the epoch, for a store that shows no clock. */
  readonly now?: number;
  /** Events read after a checkpoint, at most, to count the unhandled ones. Default 10,000. */
  readonly lookAhead?: number;
}

const LOOK_AHEAD = 10_000;

interface Row {
  name: string;
  position: string | null;
  status: 'running' | 'halted';
  error: string | null;
  categories: string[];
  parked: number;
}

/**
 * The lag of every consumer that has ever run, by name, except versions that are being built. For each consumer that is
 * behind, reads at most `lookAhead` events of the log after its checkpoint.
 */
export const consumerLag = async (
  pool: Pick<Pool, 'query'>,
  store: EventStore,
  { now, lookAhead = LOOK_AHEAD }: LagOptions = {},
): Promise<readonly ConsumerLag[]> => {
  // Read before the checkpoints, so that events appended in between do not count as lag.
  const head = await store.head();
  const { rows } = await pool.query<Row>(
    `select name, position, status, error, categories,
            (select count(distinct stream)::int from event_sourcing.parked_stream where consumer = name) as parked
     from event_sourcing.consumer
     where name !~ '__v[0-9]+$' order by name`,
  );
  const consumers = rows.map((row) => ({
    ...row,
    position: row.position === null ? null : BigInt(row.position),
  }));
  const beyond = await beyondTheLog(pool, store);
  return Promise.all(
    consumers.map(async ({ name, position, error, categories, parked, ...row }) => {
      const status = beyond.has(name) ? 'beyond_the_log' : row.status;
      const { events, atLeast, oldest } = await unhandled(store, categories, position, head, lookAhead);
      const seconds = oldest === null ? 0 : (await ageOf(oldest, store, now)) / 1_000;
      return { consumer: name, status, position, events, atLeast, seconds, error, parkedStreams: parked };
    }),
  );
};

const unhandled = async (
  store: EventStore,
  categories: readonly string[],
  after: bigint | null,
  head: bigint | null,
  lookAhead: number,
): Promise<{ events: number; atLeast: boolean; oldest: StoredEvent | null }> => {
  let [events, looked] = [0, 0];
  let oldest: StoredEvent | null = null;
  if (head === null || (after !== null && after >= head)) return { events, atLeast: false, oldest };
  for await (const event of store.readAll({ after, limit: lookAhead })) {
    if (event.position > head) break;
    looked += 1;
    if (!categories.includes(categoryOf(event.stream))) continue;
    events += 1;
    oldest ??= event;
  }
  return { events, atLeast: looked >= lookAhead, oldest };
};

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
