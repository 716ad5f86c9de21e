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

/** A stopped stream that an operator had tried again. */
export interface RetriedStream extends Pick<StoppedStream, 'consumer' | 'stream' | 'cause' | 'error'> {
  readonly retriedBy: string;
  /** `null`: none was given. */
  readonly reason: string | null;
  readonly retriedAt: Date;
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

/**
 * Records that an operator has stopped streams tried again, and forgets what is older.
 * @param retriedBy `operator:<login name>`
 */
export const recordRetry = async (
  pool: Pick<Pool, 'query'>,
  stopped: readonly StoppedStream[],
  { retriedBy, reason, keptDays }: { retriedBy: string; reason: string | null; keptDays: number },
): Promise<void> => {
  await pool.query(
    `with old as (delete from event_sourcing.retried_stream where retried_at < now() - make_interval(days => $4))
     insert into event_sourcing.retried_stream (consumer, stream, cause, error, retried_by, reason)
     select consumer, stream, cause, error, $2, $3
     from jsonb_to_recordset($1::jsonb) stopped (consumer text, stream text, cause text, error text)
     on conflict do nothing`,
    [
      JSON.stringify(
        stopped.map(({ consumer, stream, cause, error }) => ({ consumer, stream, cause, error })),
      ),
      retriedBy,
      reason,
      keptDays,
    ],
  );
};

/** Retries, newest first; at most 1,000. */
export const retriedStreams = async (
  pool: Pick<Pool, 'query'>,
  consumer: string | null = null,
): Promise<readonly RetriedStream[]> => {
  const { rows } = await pool.query<RetriedStream>(
    `select consumer, stream, cause, error, retried_by as "retriedBy", reason, retried_at as "retriedAt"
     from event_sourcing.retried_stream where $1::text is null or consumer = $1
     order by retried_at desc, consumer, stream limit 1000`,
    [consumer],
  );
  return rows;
};
