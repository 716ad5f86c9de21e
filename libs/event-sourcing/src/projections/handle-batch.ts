import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { isSetAside, type StoredEvent } from '../core/event.js';
import { isDependencyAway, describe, isEventsFault } from '../store/errors.js';
import { CheckpointMoved, advance, type Checkpoint } from './checkpoint.js';
import type { Consumer } from './consumer.js';
import { causeOfFailure, keyOf, park, placeText, type ParkedKeys, type Place } from './parked-streams.js';

export interface HandlingOptions {
  readonly pool: Pool;
  readonly log: {
    info?(details: object, message: string): void;
    warn(details: object, message: string): void;
    error(details: object, message: string): void;
  };
  /** Attempts to handle an event before it counts as poison. Default 5. */
  readonly poisonAttempts?: number;
  /** Different events that may keep streams parked before the consumer halts at the next one. Default `MOST_PARKED`. */
  readonly mostParked?: number;
}

/** Events. More of them are rather the fault of a release, which would park everything, than of the events. */
const MOST_PARKED = 25;

/**
 * Handles a batch. When the batch fails, handles its events one by one. An event that keeps failing parks its stream:
 * this event and the later ones wait, and the other streams continue.
 * @param parked what is parked; grows when this batch parks a stream
 * @param to position up to which the batch accounts for the log
 */
export const handleBatch = async (
  consumer: Consumer,
  options: HandlingOptions,
  parked: ParkedKeys,
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
  parked: ParkedKeys,
  from: Checkpoint,
  event: StoredEvent,
  signal: AbortSignal,
): Promise<Checkpoint> => {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await apply(consumer, options.pool, parked, from, [event], event.position);
    } catch (error) {
      if (error instanceof CheckpointMoved || isDependencyAway(error) || signal.aborted) throw error;
      const cause = causeOfFailure(error, event);
      const causes = parked.causes();
      const isKnown = isEventsFault(error) && causes.has(placeText(cause));
      // One unreadable book fails each of its readings: further attempts would only delay the other streams.
      if (!isKnown && attempt < (options.poisonAttempts ?? 5)) {
        await delay(50 * 2 ** attempt, undefined, { signal }).catch(() => undefined);
        continue;
      }
      if (!isEventsFault(error)) return halt(consumer, options, from, event, error, describe(error));
      if (!isKnown && causes.size >= (options.mostParked ?? MOST_PARKED)) {
        const reason = `${describe(error)}; ${causes.size} events keep streams parked already`;
        return halt(consumer, options, from, event, error, reason);
      }
      return parkStream(consumer, options, parked, from, event, cause, error);
    }
  }
};

const parkStream = async (
  consumer: Consumer,
  options: HandlingOptions,
  parked: ParkedKeys,
  from: Checkpoint,
  event: StoredEvent,
  cause: Place,
  error: unknown,
): Promise<Checkpoint> => {
  const key = keyOf(consumer, event);
  const parking = [park(consumer, event, key, cause, describe(error))];
  const moved = await advance(options.pool, consumer, from, event.position, parking, event);
  parked.add(key, cause, event.stream);
  options.log.error(
    { ...placeOf(consumer, event), cause: placeText(cause), reason: describe(error) },
    'poison event: its stream is parked, the others continue',
  );
  return moved;
};

/** @throws the error that halts it */
const halt = async (
  consumer: Consumer,
  options: HandlingOptions,
  from: Checkpoint,
  event: StoredEvent,
  error: unknown,
  reason: string,
): Promise<never> => {
  const halted = await options.pool.query(
    `update event_sourcing.consumer set status = 'halted', error = $2, halted_stream = $3, halted_position = $4
     where name = $1 and epoch = $5 and position is not distinct from $6::numeric`,
    [
      consumer.name,
      `${event.stream}@${event.revision} ${event.type}: ${reason}`,
      event.stream,
      String(event.position),
      String(from.epoch),
      from.position === null ? null : String(from.position),
    ],
  );
  // Another process with a newer program may have handled the event meanwhile.
  if (halted.rowCount !== 1) throw new CheckpointMoved(`${consumer.name} is no longer at ${from.position}`);
  options.log.error({ ...placeOf(consumer, event), reason }, 'the consumer is halted until it can continue');
  throw error;
};

const placeOf = (consumer: Consumer, { stream, type, metadata }: StoredEvent) => ({
  consumer: consumer.name,
  stream,
  eventType: type,
  requestId: metadata.correlationId,
});

const apply = async (
  consumer: Consumer,
  pool: Pool,
  parked: ParkedKeys,
  from: Checkpoint,
  events: readonly StoredEvent[],
  to: bigint,
): Promise<Checkpoint> => {
  const own = events.filter((event) => !isSetAside(event, readerName(consumer)));
  const healthy = parked.isEmpty ? own : own.filter((event) => !parked.has(keyOf(consumer, event)));
  const waiting = healthy.length === own.length ? [] : firstWaiting(consumer, parked, own);
  const steps = [
    ...consumer.steps(healthy),
    ...waiting.map(({ event, key }) =>
      park(consumer, event, key, parked.causeOf(key), `waits for ${placeText(parked.causeOf(key))}`),
    ),
  ];
  if (healthy.length > 0) await consumer.dispatch?.(healthy);
  const moved = await advance(pool, consumer, from, to, steps, events.at(-1));
  for (const { event, key } of waiting) parked.add(key, parked.causeOf(key), event.stream);
  consumer.handled?.(healthy);
  return moved;
};

/** The name that decisions know a consumer by: a version of its tables passes over the same events. */
export const readerName = ({ reader, name }: Consumer): string => reader ?? name;

/** The first event of each further stream that waits under a parked key. */
const firstWaiting = (
  consumer: Consumer,
  parked: ParkedKeys,
  events: readonly StoredEvent[],
): readonly { readonly event: StoredEvent; readonly key: string }[] => {
  const first = new Map<string, { event: StoredEvent; key: string }>();
  for (const event of events) {
    const key = keyOf(consumer, event);
    const id = JSON.stringify([key, event.stream]);
    if (parked.has(key) && !parked.waits(key, event.stream) && !first.has(id)) first.set(id, { event, key });
  }
  return [...first.values()];
};
