import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { StoredEvent } from '../core/event.js';
import { categoryOf } from '../core/stream-name.js';
import { StoreUnavailable } from '../store/errors.js';
import { isDependencyAway } from '../store/dependency-away.js';
import type { EventStore } from '../store/event-store.js';
import { batches } from './batches.js';
import { CheckpointMoved, advance, loadCheckpoint } from './checkpoint.js';
import type { Consumer } from './consumer.js';
import { sql, type Statement } from './statement.js';

export interface RunnerOptions {
  readonly store: EventStore;
  readonly pool: Pool;
  readonly log: {
    warn(details: object, message: string): void;
    error(details: object, message: string): void;
  };
  /** Events handled in one transaction. */
  readonly batchSize?: number;
  /** How long a subscription may be silent while the log grows before it is torn down and opened again. */
  readonly watchdogMs?: number;
  /** Tries of one failing event before it counts as poison. */
  readonly poisonAttempts?: number;
}

const QUIET_MS = 1_000;

/**
 * Runs a consumer until the signal aborts. A subscription that ends, errors or goes silent is one and the same fault:
 * it is opened again from the durable checkpoint after a jittered pause.
 */
export const runConsumer = async (
  consumer: Consumer,
  options: RunnerOptions,
  signal: AbortSignal,
): Promise<void> => {
  for (let failures = 0; !signal.aborted;) {
    try {
      await follow(consumer, options, signal, () => (failures = 0));
    } catch (error) {
      if (signal.aborted) return;
      failures += 1;
      const pause = Math.min(15_000, 100 * 2 ** Math.min(failures, 8)) * (0.5 + Math.random() / 2);
      const known = error instanceof CheckpointMoved || isDependencyAway(error);
      options.log[known ? 'warn' : 'error'](
        { consumer: consumer.name, reason: describe(error), retryInMs: Math.round(pause) },
        'consumer interrupted; it resumes from its checkpoint',
      );
      await delay(pause, undefined, { signal }).catch(() => undefined);
    }
  }
};

const follow = async (
  consumer: Consumer,
  options: RunnerOptions,
  signal: AbortSignal,
  progressed: () => void,
): Promise<void> => {
  const { store, pool } = options;
  let checkpoint = await loadCheckpoint(pool, consumer, () => store.head());
  let seen = checkpoint;
  const parked = await parkedStreams(pool, consumer);
  const silent = new AbortController();
  const ended = AbortSignal.any([signal, silent.signal]);
  const subscription = store.subscribe({
    after: checkpoint,
    categories: consumer.categories,
    onCheckpoint: (position) => (seen = position),
  });
  const watchdog = watchForSilence(
    options.watchdogMs ?? 20_000,
    () => seen,
    async (position) => {
      const missed = await firstMissed(store, consumer, position);
      if (missed === 'something') silent.abort();
      else if (missed !== null && seen === position) seen = missed;
    },
  );
  try {
    const source = batches(subscription, {
      maximum: options.batchSize ?? 256,
      quietMs: QUIET_MS,
      quietPosition: () => seen,
      signal: ended,
    });
    for await (const { events, position } of source) {
      if (checkpoint !== null && position <= checkpoint) continue;
      checkpoint = await handle(consumer, options, parked, checkpoint, events, position, ended);
      if (seen === null || checkpoint > seen) seen = checkpoint;
      progressed();
    }
    if (silent.signal.aborted)
      throw new StoreUnavailable('the subscription went silent while the log grew', false);
    if (!signal.aborted) throw new StoreUnavailable('the subscription ended', false);
  } finally {
    clearInterval(watchdog);
    await subscription.close();
  }
};

/** Handles a batch; on failure event by event, so that one bad event holds up no other. */
const handle = async (
  consumer: Consumer,
  options: RunnerOptions,
  parked: Set<string>,
  from: bigint | null,
  events: readonly StoredEvent[],
  to: bigint,
  signal: AbortSignal,
): Promise<bigint> => {
  const healthy = events.filter(({ stream }) => !parked.has(stream));
  if (healthy.length === events.length) {
    try {
      await apply(consumer, options.pool, from, healthy, to);
      return to;
    } catch (error) {
      if (error instanceof CheckpointMoved || isDependencyAway(error)) throw error;
    }
  }
  let checkpoint = from;
  for (const event of events) {
    await handleOne(consumer, options, parked, checkpoint, event, signal);
    checkpoint = event.position;
  }
  return checkpoint ?? to;
};

const handleOne = async (
  consumer: Consumer,
  options: RunnerOptions,
  parked: Set<string>,
  from: bigint | null,
  event: StoredEvent,
  signal: AbortSignal,
): Promise<void> => {
  if (parked.has(event.stream)) {
    return advance(options.pool, consumer, from, event.position, [
      park(consumer, event, 'its stream is parked'),
    ]);
  }
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await apply(consumer, options.pool, from, [event], event.position);
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
        reason: describe(error),
      };
      if (consumer.onPoison === 'park') {
        options.log.error(where, 'poison event: its stream is parked, the view goes on');
        parked.add(event.stream);
        return advance(options.pool, consumer, from, event.position, [
          park(consumer, event, describe(error)),
        ]);
      }
      options.log.error(where, 'poison event: the consumer is halted until it can be handled');
      await options.pool.query(
        `update event_sourcing.consumer set status = 'halted', error = $2 where name = $1`,
        [consumer.name, `${event.stream}@${event.revision} ${event.type}: ${describe(error)}`],
      );
      throw error;
    }
  }
};

const apply = async (
  consumer: Consumer,
  pool: Pool,
  from: bigint | null,
  events: readonly StoredEvent[],
  to: bigint,
): Promise<void> => {
  const statements = consumer.statements(events);
  await consumer.dispatch?.(events);
  await advance(pool, consumer, from, to, statements);
  consumer.handled?.(events);
};

const park = (consumer: Consumer, event: StoredEvent, reason: string): Statement => sql`
  insert into event_sourcing.parked_event (consumer, position, stream, event_id, event_type, error)
  values (${consumer.name}, ${String(event.position)}, ${event.stream}, ${event.id}, ${event.type}, ${reason})
  on conflict do nothing`;

const parkedStreams = async (pool: Pool, consumer: Consumer): Promise<Set<string>> => {
  const { rows } = await pool.query<{ stream: string }>(
    'select distinct stream from event_sourcing.parked_event where consumer = $1',
    [consumer.name],
  );
  return new Set(rows.map(({ stream }) => stream));
};

/** A subscription may fall silent without an error: when nothing came for a while, the log itself is asked. */
const watchForSilence = (
  everyMs: number,
  seen: () => bigint | null,
  check: (position: bigint | null) => Promise<void>,
): NodeJS.Timeout => {
  let before = seen();
  return setInterval(() => {
    const now = seen();
    if (now === before) check(now).catch(() => undefined);
    before = now;
  }, everyMs);
};

const LOOK_AHEAD = 256;

/**
 * Looks a bounded way past the last position seen: `something` when an event of interest was not delivered, else the
 * position up to which there is none (`null` when there is nothing at all).
 */
const firstMissed = async (
  store: EventStore,
  consumer: Consumer,
  after: bigint | null,
): Promise<'something' | bigint | null> => {
  let last: bigint | null = null;
  for await (const event of store.readAll({ after, limit: LOOK_AHEAD })) {
    if (consumer.categories.includes(categoryOf(event.stream))) return 'something';
    last = event.position;
  }
  return last;
};

/** What went wrong, for logs and tables. A database's own words may repeat the values of a row, so they stay out. */
const describe = (error: unknown): string => {
  if (!(error instanceof Error)) return 'unknown';
  const { code, severity, schema, table, constraint } = error as Error & Readonly<Record<string, unknown>>;
  if (typeof severity !== 'string') return `${error.name}: ${error.message}`;
  const where = [schema, table, constraint].filter((part) => typeof part === 'string').join('.');
  return `SQLSTATE ${String(code)}${where && ` at ${where}`}`;
};
