import type { Pool } from 'pg';
import { CorruptEvent } from '../core/event-catalogue.js';
import type { StoredEvent } from '../core/event.js';
import { streamId } from '../core/stream-name.js';
import type { Consumer } from './consumer.js';
import { describe } from '../store/errors.js';
import { sql, type Statement } from './statement.js';

/** An event, by its place. */
export interface Place {
  readonly stream: string;
  readonly revision: bigint;
}

/** A stream whose events wait for a consumer, from one of them on. */
export interface ParkedStream extends Place {
  readonly consumer: string;
  /** The consumer parks all streams with this key together. */
  readonly key: string;
  /** Of the first event that waits; the revision may be lower than its own. */
  readonly position: bigint;
  readonly eventId: string;
  readonly eventType: string;
  /** The event that keeps it from being handled; of another stream if a handler reads that one. */
  readonly cause: Place;
  readonly error: string;
  readonly since: Date;
}

/** What a consumer parks together: by default, all its streams with one id, since their events change the same rows. */
export const keyOf = (consumer: Consumer, event: StoredEvent): string =>
  consumer.keyOf?.(event) ?? (streamId(event.stream) || event.stream);

type Row = Omit<ParkedStream, 'revision' | 'position' | 'cause'> &
  Readonly<Record<'revision' | 'position' | 'causeStream' | 'causeRevision', string>>;

/** Parked streams in log order of their first waiting event; at most 1,000 unless one consumer is named. */
export const parkedStreams = async (
  client: Pick<Pool, 'query'>,
  consumer: string | null = null,
  key: string | null = null,
): Promise<readonly ParkedStream[]> => {
  const { rows } = await client.query<Row>(
    `select consumer, key, stream, revision, position, event_id as "eventId", event_type as "eventType", error,
            cause_stream as "causeStream", cause_revision as "causeRevision", parked_at as since
     from event_sourcing.parked_stream
     where ($1::text is null or consumer = $1) and ($2::text is null or key = $2) order by position limit $3`,
    [consumer, key, consumer === null ? 1_000 : null],
  );
  return rows.map(({ revision, position, causeStream, causeRevision, ...row }) => ({
    ...row,
    revision: BigInt(revision),
    position: BigInt(position),
    cause: { stream: causeStream, revision: BigInt(causeRevision) },
  }));
};

/** What a running consumer knows of its parked streams. */
export class ParkedKeys {
  private readonly keys = new Map<string, { readonly cause: Place; readonly streams: Set<string> }>();

  static async load(client: Pick<Pool, 'query'>, consumer: Consumer): Promise<ParkedKeys> {
    const parked = new ParkedKeys();
    for (const { key, cause, stream } of await parkedStreams(client, consumer.name))
      parked.add(key, cause, stream);
    return parked;
  }

  get isEmpty(): boolean {
    return this.keys.size === 0;
  }

  has(key: string): boolean {
    return this.keys.has(key);
  }

  causeOf(key: string): Place {
    return this.keys.get(key)!.cause;
  }

  /** Whether the stream is known to wait under this key. */
  waits(key: string, stream: string): boolean {
    return this.keys.get(key)?.streams.has(stream) ?? false;
  }

  add(key: string, cause: Place, stream: string): void {
    const known = this.keys.get(key);
    if (known) known.streams.add(stream);
    else this.keys.set(key, { cause, streams: new Set([stream]) });
  }

  remove(key: string): void {
    this.keys.delete(key);
  }

  /** Different events that keep streams parked. One unreadable book may park many readings: that is one cause. */
  causes(): ReadonlySet<string> {
    return new Set([...this.keys.values()].map(({ cause }) => placeText(cause)));
  }
}

export const placeText = ({ stream, revision }: Place): string => `${stream}@${revision}`;

/** The event that made the handling of another fail: itself, unless a handler could not read a stream. */
export const causeOfFailure = (error: unknown, event: StoredEvent): Place =>
  error instanceof CorruptEvent ? { stream: error.at.stream, revision: error.at.revision } : event;

/** Has a stream wait from this event on. */
export const park = (
  consumer: Consumer,
  event: StoredEvent,
  key: string,
  cause: Place,
  reason: string,
): Statement => sql`
  insert into event_sourcing.parked_stream
    (consumer, key, stream, revision, position, event_id, event_type, cause_stream, cause_revision, error, tried_at)
  values (${consumer.name}, ${key}, ${event.stream}, ${String(event.revision)}, ${String(event.position)}, ${event.id},
          ${event.type}, ${cause.stream}, ${String(cause.revision)}, ${reason}, now())
  on conflict do nothing`;

/** Stops waiting: the streams of the key are no longer parked. */
export const unpark = (consumer: string, key: string): Statement =>
  sql`delete from event_sourcing.parked_stream where consumer = ${consumer} and key = ${key}`;

/**
 * Asks the consumer's worker to try again soon: all it has parked, one stream's key, or what one event has caused. Each
 * release asks again, and one event may keep thousands of streams parked: those that were asked for are not written again.
 */
export const askForRetry = async (
  pool: Pick<Pool, 'query'>,
  consumer: string,
  only: { readonly key?: string; readonly cause?: Place } = {},
): Promise<void> => {
  await pool.query(
    `update event_sourcing.parked_stream set tried_at = null
     where tried_at is not null and consumer = $1 and ($2::text is null or key = $2)
       and ($3::text is null or cause_stream = $3) and ($4::numeric is null or cause_revision = $4::numeric)`,
    [consumer, only.key ?? null, only.cause?.stream ?? null, only.cause ? String(only.cause.revision) : null],
  );
};

/**
 * The keys to try again now: one for each cause, since the others would fail in the same way. Those that somebody asked
 * for come first; the others are drawn, so that one that keeps failing does not hide one that would succeed.
 */
export const keysDue = async (
  pool: Pick<Pool, 'query'>,
  consumer: string,
  everyMs: number,
): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ key: string }>({
    // Each consumer asks every few seconds, and planning takes longer than finding nothing.
    name: 'keys-due',
    text: `select distinct on (cause_stream, cause_revision) key from event_sourcing.parked_stream
           where consumer = $1 and (tried_at is null or tried_at < now() - make_interval(secs => $2))
           order by cause_stream, cause_revision, tried_at is not null, random()`,
    values: [consumer, everyMs / 1_000],
  });
  return rows.map(({ key }) => key);
};

/** Records that an event could still not be handled. This counts as an attempt for every stream with the same cause. */
export const stillParked = async (
  pool: Pick<Pool, 'query'>,
  consumer: Consumer,
  key: string,
  event: StoredEvent,
  error: unknown,
): Promise<void> => {
  const cause = causeOfFailure(error, event);
  await pool.query(
    `update event_sourcing.parked_stream
     set error = $3, cause_stream = $4, cause_revision = $5,
         event_id = case when stream = $6 then $7::uuid else event_id end,
         event_type = case when stream = $6 then $8 else event_type end
     where consumer = $1 and key = $2`,
    [
      consumer.name,
      key,
      describe(error),
      cause.stream,
      String(cause.revision),
      event.stream,
      event.id,
      event.type,
    ],
  );
  await pool.query(
    `update event_sourcing.parked_stream set tried_at = now()
     where consumer = $1 and cause_stream = $2 and cause_revision = $3::numeric`,
    [consumer.name, cause.stream, String(cause.revision)],
  );
};

/** What a consumer cannot continue with: a stream that it has parked, or an event at which it has halted as a whole. */
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
    ...parked.map(({ consumer: name, stream, key, cause, position, error, since }) => {
      const one = { consumer: name, state: 'parked' as const, stream, key };
      return { ...one, cause: placeText(cause), position, error, since };
    }),
  ];
};
