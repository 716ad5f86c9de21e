import type { Pool } from 'pg';
import { intervene } from '../projections/checkpoint.js';
import { transaction } from '../projections/transaction.js';

/** A stream that a consumer cannot process: the consumer halted at its event, or parked its events. */
export interface StoppedStream {
  readonly consumer: string;
  readonly state: 'halted' | 'parked';
  readonly stream: string;
  /** Number of parked events; 1 for a halted consumer. */
  readonly events: number;
  /** Position of the first of these events. */
  readonly position: bigint;
  readonly error: string;
  readonly since: Date;
}

/** An event that an operator decided not to have handled. */
export interface SkippedEvent {
  readonly consumer: string;
  readonly position: bigint;
  readonly stream: string;
  readonly error: string;
  readonly skippedBy: string;
  readonly reason: string;
  readonly skippedAt: Date;
}

interface StoppedRow {
  consumer: string;
  state: StoppedStream['state'];
  stream: string;
  events: number;
  position: string;
  error: string;
  since: Date;
}

/** The streams that consumers halted at or parked: halted ones first, then the longest parked; at most 1,000. */
export const stoppedStreams = async (
  pool: Pick<Pool, 'query'>,
  consumer: string | null = null,
): Promise<readonly StoppedStream[]> => {
  const { rows } = await pool.query<StoppedRow>(
    `select * from (
       select name as consumer, 'halted' as state, halted_stream as stream, 1 as events, halted_position as position,
              error, updated_at as since
       from event_sourcing.consumer where status = 'halted' and halted_stream is not null
       union all
       select consumer, 'parked', stream, count(*)::int, min(position),
              (array_agg(error order by position))[1], min(parked_at)
       from event_sourcing.parked_event group by consumer, stream
     ) stopped
     where $1::text is null or consumer = $1
     order by state, since, consumer, stream limit 1000`,
    [consumer],
  );
  return rows.map((row) => ({ ...row, position: BigInt(row.position) }));
};

/** Skipped events, newest first; at most 1,000. */
export const skippedEvents = async (
  pool: Pick<Pool, 'query'>,
  consumer: string | null = null,
): Promise<readonly SkippedEvent[]> => {
  const { rows } = await pool.query<Omit<SkippedEvent, 'position'> & { position: string }>(
    `select consumer, position, stream, error, skipped_by as "skippedBy", reason, skipped_at as "skippedAt"
     from event_sourcing.skipped_event where $1::text is null or consumer = $1
     order by skipped_at desc, position desc limit 1000`,
    [consumer],
  );
  return rows.map((row) => ({ ...row, position: BigInt(row.position) }));
};

/**
 * Skips the event that a consumer halted at, or all parked events of a stream, and records who did so and why. The
 * consumer continues after them.
 * @returns how many events were skipped; 0 when the stream is not stopped, or the consumer has already passed the event
 */
export const skipStopped = (
  pool: Pool,
  { consumer, stream, by, reason }: { consumer: string; stream: string; by: string; reason: string },
): Promise<number> =>
  transaction(pool, async (client) => {
    const halted = await client.query(
      `insert into event_sourcing.skipped_event (consumer, position, stream, error, skipped_by, reason)
       select name, halted_position, halted_stream, error, $3, $4 from event_sourcing.consumer
       where name = $1 and status = 'halted' and halted_stream = $2
         and (position is null or position < halted_position) for update`,
      [consumer, stream, by, reason],
    );
    await client.query(
      `update event_sourcing.consumer
       set position = halted_position, status = 'running', error = null, halted_stream = null, halted_position = null
       where name = $1 and status = 'halted' and halted_stream = $2
         and (position is null or position < halted_position)`,
      [consumer, stream],
    );
    const parked = await client.query(
      `with released as (
         delete from event_sourcing.parked_event where consumer = $1 and stream = $2 returning *)
       insert into event_sourcing.skipped_event (consumer, position, stream, error, skipped_by, reason)
       select consumer, position, stream, error, $3, $4 from released`,
      [consumer, stream, by, reason],
    );
    await intervene(client, consumer);
    return (halted.rowCount ?? 0) + (parked.rowCount ?? 0);
  });
