import type { Pool } from 'pg';
import { parkedStreams, placeText } from '../projections/parked-streams.js';

/** A stream that a consumer cannot continue with: it has parked it, or has halted as a whole at its event. */
export interface StoppedStream {
  readonly consumer: string;
  readonly state: 'halted' | 'parked';
  readonly stream: string;
  /** What the consumer parks together with the stream; `null` when it halted. */
  readonly key: string | null;
  /** `<stream>@<revision>` of the event that it cannot get past. */
  readonly cause: string;
  /** Position of the first event that waits. */
  readonly position: bigint;
  readonly error: string;
  readonly since: Date;
}

/** A skip that an older program recorded. It is a quarantine for this consumer now. */
export interface SkippedEvent {
  readonly consumer: string;
  readonly position: bigint;
  readonly stream: string;
  readonly error: string;
  readonly skippedBy: string;
  readonly reason: string;
  readonly skippedAt: Date;
}

/** What consumers cannot continue with: halted ones first, then the longest parked; at most 1,000 of each. */
export const stoppedStreams = async (
  pool: Pick<Pool, 'query'>,
  consumer: string | null = null,
): Promise<readonly StoppedStream[]> => {
  const { rows } = await pool.query<Omit<StoppedStream, 'state' | 'key' | 'position'> & { position: string }>(
    `select name as consumer, halted_stream as stream, split_part(error, ' ', 1) as cause, halted_position as position,
            error, updated_at as since
     from event_sourcing.consumer
     where status = 'halted' and halted_stream is not null and ($1::text is null or name = $1)
     order by since, consumer limit 1000`,
    [consumer],
  );
  const parked = await parkedStreams(pool, consumer);
  return [
    ...rows.map((row) => ({ ...row, state: 'halted' as const, key: null, position: BigInt(row.position) })),
    ...parked.map(({ stream, key, cause, position, error, since, ...one }) => ({
      consumer: one.consumer,
      state: 'parked' as const,
      stream,
      key,
      cause: placeText(cause),
      position,
      error,
      since,
    })),
  ];
};

/** Skips of older programs, newest first; at most 1,000. */
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
