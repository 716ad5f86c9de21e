import type { Pool } from 'pg';
import type { StoredEvent } from '../core/event.js';
import { categoryOf } from '../core/stream-name.js';
import type { EventStore } from '../store/event-store.js';
import { ageOf } from '../store/record-age.js';
import { beyondTheLog } from './end-of-log.js';

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
