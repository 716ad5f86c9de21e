import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { StoredEvent } from '../core/event.js';
import { isDependencyAway } from '../store/dependency-away.js';
import { CheckpointMoved, advance, type Checkpoint } from './checkpoint.js';
import type { Consumer } from './consumer.js';
import { sql, type Statement } from './statement.js';

export interface HandlingOptions {
  readonly pool: Pool;
  readonly log: {
    warn(details: object, message: string): void;
    error(details: object, message: string): void;
  };
  /** Attempts to handle an event before it counts as poison. Default 5. */
  readonly poisonAttempts?: number;
}

/**
 * Handles a batch. When the batch fails, handles its events one by one, so that a poison event does not block the
 * others.
 * @param parked the parked streams; a stream that this batch parks is added
 * @param to position up to which the batch accounts for the log
 */
export const handleBatch = async (
  consumer: Consumer,
  options: HandlingOptions,
  parked: Set<string>,
  from: Checkpoint,
  events: readonly StoredEvent[],
  to: bigint,
  signal: AbortSignal,
): Promise<Checkpoint> => {
  try {
    return await apply(consumer, options.pool, parked, from, events, to);
  } catch (error) {
    if (error instanceof CheckpointMoved || isDependencyAway(error) || events.length === 0) throw error;
  }
  let checkpoint = from;
  for (const event of events) {
    checkpoint = await handleOne(consumer, options, parked, checkpoint, event, signal);
  }
  return checkpoint;
};

const handleOne = async (
  consumer: Consumer,
  options: HandlingOptions,
  parked: Set<string>,
  from: Checkpoint,
  event: StoredEvent,
  signal: AbortSignal,
): Promise<Checkpoint> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await apply(consumer, options.pool, parked, from, [event], event.position);
    } catch (error) {
      if (error instanceof CheckpointMoved || isDependencyAway(error) || signal.aborted) throw error;
      if (attempt < (options.poisonAttempts ?? 5)) {
        await delay(50 * 2 ** attempt, undefined, { signal }).catch(() => undefined);
        continue;
      }
      const where = {
        consumer: consumer.name,
        stream: event.stream,
        eventType: event.type,
        requestId: event.metadata.correlationId,
        reason: describe(error),
      };
      if (consumer.onPoison === 'park') {
        const parking = [park(consumer, event, describe(error))];
        const moved = await advance(options.pool, consumer, from, event.position, parking);
        parked.add(event.stream);
        options.log.error(where, 'poison event: its stream is parked, the view continues');
        return moved;
      }
      const halted = await options.pool.query(
        `update event_sourcing.consumer set status = 'halted', error = $2, halted_stream = $3, halted_position = $4
         where name = $1 and epoch = $5 and position is not distinct from $6::numeric`,
        [
          consumer.name,
          `${event.stream}@${event.revision} ${event.type}: ${describe(error)}`,
          event.stream,
          String(event.position),
          String(from.epoch),
          from.position === null ? null : String(from.position),
        ],
      );
      // Another process with a newer program may have handled the event meanwhile.
      if (halted.rowCount !== 1)
        throw new CheckpointMoved(`${consumer.name} is no longer at ${from.position}`);
      options.log.error(where, 'poison event: the consumer is halted until it can be handled');
      throw error;
    }
  }
};

const apply = async (
  consumer: Consumer,
  pool: Pool,
  parked: ReadonlySet<string>,
  from: Checkpoint,
  events: readonly StoredEvent[],
  to: bigint,
): Promise<Checkpoint> => {
  const healthy = parked.size === 0 ? events : events.filter(({ stream }) => !parked.has(stream));
  const setAside = parked.size === 0 ? [] : events.filter(({ stream }) => parked.has(stream));
  const steps = [
    ...consumer.steps(healthy),
    ...setAside.map((event) => park(consumer, event, 'its stream is parked')),
  ];
  if (healthy.length > 0) await consumer.dispatch?.(healthy);
  const moved = await advance(pool, consumer, from, to, steps);
  consumer.handled?.(healthy);
  return moved;
};

const park = (consumer: Consumer, event: StoredEvent, reason: string): Statement => sql`
  insert into event_sourcing.parked_event (consumer, position, stream, event_id, event_type, error)
  values (${consumer.name}, ${String(event.position)}, ${event.stream}, ${event.id}, ${event.type}, ${reason})
  on conflict do nothing`;

/** Streams that the consumer has parked: an event that failed, and every later one. */
export const parkedStreams = async (pool: Pool, consumer: Consumer): Promise<Set<string>> => {
  const { rows } = await pool.query<{ stream: string }>(
    'select distinct stream from event_sourcing.parked_event where consumer = $1',
    [consumer.name],
  );
  return new Set(rows.map(({ stream }) => stream));
};

/** PostgreSQL names a table, column or right in the messages of these, and no value. */
const WITHOUT_VALUES = /^(42P01|42703|3F000|42501)$/;

/** Describes an error for logs and tables. Leaves out PostgreSQL's message where it may contain the values of a row. */
export const describe = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  const { code, severity, schema, table, constraint } = error as Error & Readonly<Record<string, unknown>>;
  if (typeof severity !== 'string') return `${error.name}: ${error.message}`;
  if (WITHOUT_VALUES.test(String(code))) return `SQLSTATE ${String(code)}: ${error.message}`;
  const where = [schema, table, constraint].filter((part) => typeof part === 'string').join('.');
  return `SQLSTATE ${String(code)}${where && ` at ${where}`}`;
};
