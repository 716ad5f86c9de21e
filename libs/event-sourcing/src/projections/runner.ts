import { setTimeout as delay } from 'node:timers/promises';
import { categoryOf } from '../core/stream-name.js';
import { Recurring } from '../timing/recurring.js';
import { isStoreAway, StoreUnavailable, isDependencyAway, describe } from '../store/errors.js';
import type { EventStore } from '../store/event-store.js';
import type { StoredEvent } from '../core/event.js';
import { batches } from './batches.js';
import { CheckpointMoved, hasGoneBack, loadCheckpoint, type Checkpoint } from './checkpoint.js';
import type { Consumer } from './consumer.js';
import { beyondTheLog } from './consumer-lag.js';
import { handleBatch, type HandlingOptions } from './handle-batch.js';
import { ParkedKeys, keysDue } from './parked-streams.js';
import { releaseParked } from './release-parked.js';

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
  /** Ends the subscription, with the error that says why, or with the process. */
  const ending = new AbortController();
  const ended = ending.signal;
  const subscription = store.subscribe({
    after: checkpoint.position,
    categories: consumer.categories,
    onCheckpoint: (position) => (seen = position),
  });
  const watchdog = watchForSilence(
    options.watchdogMs ?? 20_000,
    () => seen,
    async (position) => {
      const missed = await firstMissed(store, consumer, position);
      if (missed === 'something')
        ending.abort(new StoreUnavailable('the subscription went silent while the log grew', false));
      else if (missed !== null && seen === position) seen = missed;
    },
  );
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
      checkpoint = await inTurn(() =>
        handleBatch(consumer, options, parked, checkpoint, events, position, ended),
      );
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

/** A subscription may go silent without an error. When no event arrived for a while, checks the log itself. */
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
