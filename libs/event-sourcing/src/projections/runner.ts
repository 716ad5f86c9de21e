import { isSetAside, type StoredEvent } from '../core/event.js';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { isDependencyAway, describe, isEventsFault, isStoreAway, StoreUnavailable } from '../store/errors.js';
import {
  CheckpointMoved,
  advance,
  holdCheckpoint,
  intervene,
  transaction,
  hasGoneBack,
  loadCheckpoint,
  type Checkpoint,
} from './checkpoint.js';
import type { Consumer } from './consumer.js';
import {
  causeOfFailure,
  keyOf,
  park,
  placeText,
  askForRetry,
  parkedStreams,
  stillParked,
  unpark,
  ParkedKeys,
  keysDue,
  type Place,
} from './parked-streams.js';
import type { EventStore } from '../store/event-store.js';
import { mergedStreams } from '../store/events-up-to.js';
import { readSetAside } from './set-aside.js';
import { runSteps } from './statement.js';
import { categoryOf } from '../core/stream-name.js';
import { Recurring } from '../timing/recurring.js';
import { beyondTheLog } from './consumer-lag.js';

export interface Batch {
  readonly events: readonly StoredEvent[];
  /** The batch accounts for every event up to here, including those the consumer does not follow. */
  readonly position: bigint;
}

/**
 * Groups the events of a subscription into batches: all that arrived since the previous batch, at most `maximum`. An
 * event that arrives after a pause is delivered at once. While events keep coming, batches are `spacingMs` apart, because a
 * transaction costs about as much for one event as for twenty. While a full batch waits, the source is paused, so
 * memory stays bounded. Every `quietMs` without events, `quietPosition` is read, and an empty batch moves the
 * checkpoint there.
 */
export async function* batches(
  source: AsyncIterable<StoredEvent>,
  options: {
    maximum: number;
    spacingMs: number;
    quietMs: number;
    quietPosition: () => bigint | null;
    signal: AbortSignal;
  },
): AsyncGenerator<Batch> {
  const waiting: StoredEvent[] = [];
  let finished: { error?: unknown } | null = null;
  let wakeReader = (): void => undefined;
  let wakePump = (): void => undefined;
  const changed = (set: (wake: () => void) => void, milliseconds?: number): Promise<void> =>
    new Promise((resolve) => {
      const timer = milliseconds === undefined ? undefined : setTimeout(resolve, milliseconds);
      set(() => {
        clearTimeout(timer);
        resolve();
      });
    });

  const pump = async (): Promise<void> => {
    try {
      for await (const event of source) {
        waiting.push(event);
        wakeReader();
        if (waiting.length >= options.maximum) await changed((wake) => (wakePump = wake));
        if (options.signal.aborted) break;
      }
      finished = {};
    } catch (error) {
      finished = { error };
    }
    wakeReader();
  };
  const stop = (): void => {
    wakeReader();
    wakePump();
  };
  options.signal.addEventListener('abort', stop, { once: true });
  void pump();

  let last: bigint | null = null;
  let notBefore = -Infinity;
  try {
    while (!options.signal.aborted) {
      const early = notBefore - performance.now();
      if (early > 0 && waiting.length > 0 && waiting.length < options.maximum && !finished) {
        await changed((wake) => (wakeReader = wake), early);
        continue;
      }
      if (waiting.length > 0) {
        notBefore = performance.now() + options.spacingMs;
        const events = waiting.splice(0, options.maximum);
        wakePump();
        last = events.at(-1)!.position;
        yield { events, position: last };
        continue;
      }
      if (finished) {
        if ('error' in finished) throw (finished as { error: unknown }).error;
        return;
      }
      await changed((wake) => (wakeReader = wake), options.quietMs);
      const quiet = options.quietPosition();
      // A source that failed may have reported a position without delivering all events before it.
      if (!finished && waiting.length === 0 && quiet !== null && (last === null || quiet > last)) {
        last = quiet;
        yield { events: [], position: quiet };
      }
    }
  } finally {
    options.signal.removeEventListener('abort', stop);
    stop();
  }
}

export interface HandlingOptions {
  readonly pool: Pool;
  readonly log: {
    info?(details: object, message: string): void;
    warn(details: object, message: string): void;
    error(details: object, message: string): void;
  };
  /** Attempts to handle an event before it counts as poison. Default 5. */
  readonly poisonAttempts?: number;
  /** Different events that may keep streams parked before the consumer halts at the next one. Default `MAX_PARKED`. */
  readonly mostParked?: number;
}

/** Events. More of them are rather the fault of a release, which would park everything, than of the events. */
const MAX_PARKED = 25;

/** Handles the batches of one consumer. What is parked grows when a batch parks a stream. */
export class BatchHandler {
  constructor(
    private readonly consumer: Consumer,
    private readonly options: HandlingOptions,
    private readonly parked: ParkedKeys,
  ) {}

  /**
   * When a batch fails, handles its events one by one. An event that keeps failing parks its stream: this event and the
   * later ones wait, and the other streams continue.
   * @param to position up to which the batch accounts for the log
   */
  async handle(from: Checkpoint, { events, position: to }: Batch, signal: AbortSignal): Promise<Checkpoint> {
    try {
      return await this.apply(from, events, to);
    } catch (error) {
      if (error instanceof CheckpointMoved || isDependencyAway(error) || events.length === 0) throw error;
    }
    let checkpoint = from;
    for (const event of events) checkpoint = await this.handleOne(checkpoint, event, signal);
    return checkpoint;
  }

  private async handleOne(from: Checkpoint, event: StoredEvent, signal: AbortSignal): Promise<Checkpoint> {
    const { poisonAttempts = 5, mostParked = MAX_PARKED } = this.options;
    for (let attempt = 1; ; attempt += 1) {
      try {
        return await this.apply(from, [event], event.position);
      } catch (error) {
        if (error instanceof CheckpointMoved || isDependencyAway(error) || signal.aborted) throw error;
        const cause = causeOfFailure(error, event);
        const causes = this.parked.causes();
        const isKnown = isEventsFault(error) && causes.has(placeText(cause));
        // One unreadable book fails each of its readings: further attempts would only delay the other streams.
        if (!isKnown && attempt < poisonAttempts) {
          await delay(50 * 2 ** attempt, undefined, { signal }).catch(() => undefined);
          continue;
        }
        if (!isEventsFault(error)) return this.halt(from, event, error, describe(error));
        if (!isKnown && causes.size >= mostParked)
          return this.halt(
            from,
            event,
            error,
            `${describe(error)}; ${causes.size} events keep streams parked already`,
          );
        return this.park(from, event, cause, error);
      }
    }
  }

  private async park(
    from: Checkpoint,
    event: StoredEvent,
    cause: Place,
    error: unknown,
  ): Promise<Checkpoint> {
    const { consumer, options, parked } = this;
    const key = keyOf(consumer, event);
    const parking = [park(consumer, event, key, cause, describe(error))];
    const moved = await advance(options.pool, consumer, from, event.position, parking, event);
    parked.add(key, cause, event.stream);
    options.log.error(
      { ...this.placeOf(event), cause: placeText(cause), reason: describe(error) },
      'poison event: its stream is parked, the others continue',
    );
    return moved;
  }

  /** @throws the error that halts it */
  private async halt(from: Checkpoint, event: StoredEvent, error: unknown, reason: string): Promise<never> {
    const { name } = this.consumer;
    const halted = await this.options.pool.query(
      `update event_sourcing.consumer set status = 'halted', error = $2, halted_stream = $3, halted_position = $4
       where name = $1 and epoch = $5 and position is not distinct from $6::numeric`,
      [
        name,
        `${event.stream}@${event.revision} ${event.type}: ${reason}`,
        event.stream,
        String(event.position),
        String(from.epoch),
        from.position === null ? null : String(from.position),
      ],
    );
    // Another process with a newer program may have handled the event meanwhile.
    if (halted.rowCount !== 1) throw new CheckpointMoved(`${name} is no longer at ${from.position}`);
    this.options.log.error(
      { ...this.placeOf(event), reason },
      'the consumer is halted until it can continue',
    );
    throw error;
  }

  private placeOf({ stream, type, metadata }: StoredEvent) {
    return { consumer: this.consumer.name, stream, eventType: type, requestId: metadata.correlationId };
  }

  private async apply(from: Checkpoint, events: readonly StoredEvent[], to: bigint): Promise<Checkpoint> {
    const { consumer, parked } = this;
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
    const moved = await advance(this.options.pool, consumer, from, to, steps, events.at(-1));
    for (const { event, key } of waiting) parked.add(key, parked.causeOf(key), event.stream);
    consumer.handled?.(healthy);
    return moved;
  }
}

/** The name that decisions know a consumer by: a version of its tables passes over the same events. */
const readerName = ({ reader, name }: Consumer): string => reader ?? name;

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

/** Events handled in one transaction, at most: the consumer waits meanwhile. */
const BATCH = 100;

export type Release =
  /** Nothing of the key waits any more: the consumer's checkpoint as it was found; `null`: another process did it. */
  | { readonly outcome: 'released'; readonly held: Checkpoint | null }
  | { readonly outcome: 'still_parked'; readonly error: string };

/**
 * Handles what a consumer has parked under a key, in log order, up to its checkpoint; then nothing of it is parked.
 * Each batch of events is one transaction, which holds the checkpoint, so the consumer misses nothing in between.
 * @throws StoreUnavailable and errors of a database that is away
 */
export const releaseParked = async (
  consumer: Consumer,
  { pool, store, log }: Pick<HandlingOptions, 'pool' | 'log'> & { readonly store: EventStore },
  key: string,
): Promise<Release> => {
  const [first] = await parkedStreams(pool, consumer.name, key);
  // The decision that lets it continue may be a moment old.
  const register = await readSetAside(store);
  let failed: { readonly event: StoredEvent; readonly error: unknown } | null = null;
  /** One transaction. What fails in it because of an event is noted. */
  const release = (size: number) =>
    transaction(pool, async (client) => {
      const held = await holdCheckpoint(client, consumer.name);
      const waiting = await parkedStreams(client, consumer.name, key);
      if (held === null || waiting.length === 0) return { handled: [], done: true, held: null };
      const { events, more } = await firstOf(
        mergedStreams(
          store,
          waiting.map(({ stream, revision, position }) => ({ stream, from: revision, position })),
          held.position ?? 0n,
        ),
        (event) => keyOf(consumer, event) === key,
        size,
      );
      const handled = events.filter((event) => !isSetAside(register.marked(event), readerName(consumer)));
      try {
        if (handled.length > 0) await consumer.dispatch?.(handled);
        await runSteps(client, consumer.steps(handled));
      } catch (error) {
        failed = { event: handled[0]!, error };
        throw error;
      }
      await runSteps(client, [unpark(consumer.name, key)]);
      if (!more) {
        await intervene(client, consumer.name);
        return { handled, done: true, held };
      }
      for (const one of waiting) {
        const last = events.findLast(({ stream }) => stream === one.stream);
        const next = last ? { revision: last.revision + 1n, position: last.position + 1n } : {};
        const place = { ...one, ...next, id: one.eventId, type: one.eventType } as unknown as StoredEvent;
        await runSteps(client, [park(consumer, place, key, one.cause, one.error)]);
      }
      return { handled, done: false, held };
    });
  for (let size = BATCH; ;) {
    failed = null;
    const step = await release(size).catch((error: unknown) => {
      if (failed === null || isDependencyAway(error) || !isEventsFault(error)) throw error;
      return null;
    });
    if (step?.done) {
      consumer.handled?.(step.handled);
      if (first) {
        log.info?.({ consumer: consumer.name, key }, 'a parked stream was handled');
        // What failed for the same reason may succeed now.
        await askForRetry(pool, consumer.name, { cause: first.cause });
      }
      return { outcome: 'released', held: step.held };
    }
    if (step) consumer.handled?.(step.handled);
    else if (size > 1) size = 1;
    else {
      const { event, error } = failed!;
      await stillParked(pool, consumer, key, event, error);
      return { outcome: 'still_parked', error: describe(error) };
    }
  }
};

/** The first events that match, and whether there are more. */
const firstOf = async (
  source: AsyncIterable<StoredEvent>,
  matches: (event: StoredEvent) => boolean,
  count: number,
): Promise<{ events: readonly StoredEvent[]; more: boolean }> => {
  const events: StoredEvent[] = [];
  for await (const event of source) {
    if (!matches(event)) continue;
    if (events.length === count) return { events, more: true };
    events.push(event);
  }
  return { events, more: false };
};

export interface RunnerOptions extends HandlingOptions {
  readonly store: EventStore;
  /** Events handled in one transaction, at most. Default 256. */
  readonly batchSize?: number;
  /** How long a subscription may stay silent while the log grows before it is reopened. Default 20,000. */
  readonly watchdogMs?: number;
  /** How often a parked stream is tried again. Default 30,000. */
  readonly retryParkedMs?: number;
}

/** A store or database that is away costs little to ask again, and everything waits for it. */
const LONGEST_PAUSE_MS = { away: 1_000, otherwise: 15_000 } as const;
const QUIET_MS = 1_000;
/** The least time between two batches: a transaction costs about as much for one event as for twenty. */
const SPACING_MS = 100;
/** How often it looks whether a parked stream is due for another attempt, or an operator asked for one. */
const RELEASE_MS = 1_000;
/** It looks this many times less often while nothing is parked, and at its stored checkpoint. */
const IDLE_ROUNDS = 5;
const RETRY_PARKED_MS = 30_000;
/** Streams released in one round, at most: new events wait meanwhile. */
const AT_A_TIME = 50;

/**
 * Runs a consumer until the signal aborts. Whether a subscription ends, fails or goes silent, it is reopened from the
 * durable checkpoint after a pause: exponential back-off with jitter, at most 15 s, or 1 s while a store is away.
 */
export const runConsumer = async (
  consumer: Consumer,
  options: RunnerOptions,
  signal: AbortSignal,
): Promise<void> => {
  const recurring = new Recurring();
  for (let failures = 0; !signal.aborted;) {
    try {
      await follow(consumer, options, signal, () => {
        failures = 0;
        recurring.over();
      });
    } catch (error) {
      if (signal.aborted) return;
      const reason = describe(error);
      // Of several workers, one moves the checkpoint: for the others, that is no news.
      const times = error instanceof CheckpointMoved ? 0 : recurring.happened(reason);
      if (times > 0 && !(times === 1 && isStoreAway(error)))
        options.log[isDependencyAway(error) ? 'warn' : 'error'](
          { consumer: consumer.name, reason, times },
          'consumer interrupted; it resumes from its checkpoint',
        );
      failures += 1;
      const longest = isDependencyAway(error) ? LONGEST_PAUSE_MS.away : LONGEST_PAUSE_MS.otherwise;
      const pause = Math.min(longest, 100 * 2 ** Math.min(failures, 8)) * (0.5 + Math.random() / 2);
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
  // A subscription from there would miss what the log has up to it.
  if ((await beyondTheLog(pool, store, [consumer.name])).size > 0) {
    throw new RangeError(
      `its checkpoint is at ${checkpoint.position}, beyond the end of the log or of another one: PostgreSQL is newer than the event store`,
    );
  }
  let seen = checkpoint.position;
  const parked = await ParkedKeys.load(pool, consumer);
  const handler = new BatchHandler(consumer, options, parked);
  /** Ends the subscription, with the error that says why, or with the process. */
  const ending = new AbortController();
  const ended = ending.signal;
  const subscription = store.subscribe({
    after: checkpoint.position,
    categories: consumer.categories,
    onCheckpoint: (position) => (seen = position),
  });
  /** A subscription may go silent without an error. When no event arrived for a while, the log itself says. */
  const lookForMissed = async (position: bigint | null): Promise<void> => {
    const missed = await firstMissed(store, consumer, position);
    if (missed === 'something')
      ending.abort(new StoreUnavailable('the subscription went silent while the log grew', false));
    else if (missed !== null && seen === position) seen = missed;
  };
  let seenBefore = seen;
  const watchdog = setInterval(() => {
    if (seen === seenBefore) lookForMissed(seen).catch(() => undefined);
    seenBefore = seen;
  }, options.watchdogMs ?? 20_000);
  const inTurn = oneAfterTheOther();
  let rounds = 0;
  let isPending = false;
  const releasing = setInterval(() => {
    rounds += 1;
    // While nothing is parked, only somebody else can have parked a stream again.
    if (ended.aborted || isPending || (parked.isEmpty && rounds % IDLE_ROUNDS !== 0)) return;
    isPending = true;
    const round = async (): Promise<void> => {
      if (rounds % IDLE_ROUNDS === 0 && (await hasGoneBack(pool, consumer.name, checkpoint))) {
        ending.abort(new CheckpointMoved(`${consumer.name} was moved back: PostgreSQL lost its last writes`));
        return;
      }
      checkpoint = await releaseDue(consumer, options, parked, checkpoint, ended, (why) => ending.abort(why));
    };
    inTurn(round)
      .catch((error: unknown) => {
        // While nothing is parked, it only looked whether somebody else has parked something.
        if (!parked.isEmpty)
          options.log.warn(
            { consumer: consumer.name, reason: describe(error) },
            'parked streams were not tried again',
          );
      })
      .finally(() => (isPending = false));
  }, RELEASE_MS);
  const stop = (): void => ending.abort(signal.reason);
  // Not AbortSignal.any: Node 20 keeps something of each as long as the process runs, and workers reopen several a second.
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    const passed = (position: bigint): void => {
      if (seen === null || position > seen) seen = position;
    };
    const source = batches(followed(subscription, consumer, passed), {
      maximum: options.batchSize ?? 256,
      spacingMs: SPACING_MS,
      quietMs: QUIET_MS,
      quietPosition: () => seen,
      signal: ended,
    });
    for await (const { events, position } of source) {
      if (checkpoint.position !== null && position <= checkpoint.position) continue;
      checkpoint = await inTurn(() => handler.handle(checkpoint, { events, position }, ended));
      if (seen === null || position > seen) seen = position;
      progressed();
    }
    ended.throwIfAborted();
    throw new StoreUnavailable('the subscription ended', false);
  } finally {
    signal.removeEventListener('abort', stop);
    clearInterval(watchdog);
    clearInterval(releasing);
    await inTurn(() => Promise.resolve());
    await subscription.close();
  }
};

/** The events that can change something, and the positions of the others. */
async function* followed(
  events: AsyncIterable<StoredEvent>,
  consumer: Consumer,
  passed: (position: bigint) => void,
): AsyncIterable<StoredEvent> {
  for await (const event of events) {
    if (consumer.follows?.(event) ?? true) yield event;
    else passed(event.position);
  }
}

/** Runs work in the order in which it was asked for, one at a time. */
const oneAfterTheOther = (): (<T>(work: () => Promise<T>) => Promise<T>) => {
  let last: Promise<unknown> = Promise.resolve();
  return (work) => {
    const turn = last.then(work);
    last = turn.catch(() => undefined);
    return turn;
  };
};

/**
 * Tries parked streams that are due. Stops when another process has intervened: what is known here is then out of date,
 * and the next batch ends this subscription.
 * @returns the checkpoint after the last release
 */
const releaseDue = async (
  consumer: Consumer,
  options: RunnerOptions,
  parked: ParkedKeys,
  from: Checkpoint,
  ended: AbortSignal,
  end: (why: Error) => void,
): Promise<Checkpoint> => {
  let checkpoint = from;
  for (let tried = 0; tried < AT_A_TIME;) {
    const due = await keysDue(options.pool, consumer.name, options.retryParkedMs ?? RETRY_PARKED_MS);
    if (due.length === 0) break;
    for (const key of due) {
      if (ended.aborted) return checkpoint;
      if (!parked.has(key)) {
        // Somebody else has parked it, perhaps by another key: a new subscription loads both.
        end(new CheckpointMoved(`streams of ${consumer.name} were parked by another process`));
        return checkpoint;
      }
      tried += 1;
      const released = await releaseParked(consumer, options, key);
      if (released.outcome === 'still_parked') continue;
      const { held } = released;
      if (held?.epoch !== checkpoint.epoch || held.position !== checkpoint.position) return checkpoint;
      parked.remove(key);
      checkpoint = { ...checkpoint, epoch: checkpoint.epoch + 1n };
    }
  }
  return checkpoint;
};

const LOOK_AHEAD = 256;

/**
 * Reads a bounded number of events after the last position seen. Returns `something` when the subscription missed an
 * event of the consumer's categories, else the last position read (`null` when the log has no later event).
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
