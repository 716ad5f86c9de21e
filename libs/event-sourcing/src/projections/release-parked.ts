import type { Pool } from 'pg';
import { isSetAside, type StoredEvent } from '../core/event.js';
import { isDependencyAway, describe, isEventsFault } from '../store/errors.js';
import type { EventStore } from '../store/event-store.js';
import { mergedStreams } from '../store/merged-streams.js';
import { holdCheckpoint, intervene, type Checkpoint, transaction } from './checkpoint.js';
import type { Consumer } from './consumer.js';
import { readerName, type HandlingOptions } from './handle-batch.js';
import { readSetAside, type SetAsideRegister } from './set-aside.js';
import { askForRetry, keyOf, park, parkedStreams, stillParked, unpark } from './parked-streams.js';
import { runSteps } from './statement.js';

/** Events handled in one transaction, at most: the consumer waits meanwhile. */
const BATCH = 100;

export type Release =
  /** Nothing of the key waits any more: the consumer's checkpoint as it was found; `null`: another process did it. */
  | { readonly outcome: 'released'; readonly held: Checkpoint | null }
  | { readonly outcome: 'still_parked'; readonly error: string };

interface Failed {
  readonly event: StoredEvent;
  readonly error: unknown;
}

interface Step {
  readonly handled: readonly StoredEvent[];
  readonly done: boolean;
  readonly held: Checkpoint | null;
}

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
  for (let size = BATCH; ;) {
    let failed: Failed | null = null;
    const step = await releaseStep(consumer, pool, store, register, key, size, (one) => (failed = one)).catch(
      (error: unknown) => {
        if (failed === null || isDependencyAway(error) || !isEventsFault(error)) throw error;
        return null;
      },
    );
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

const releaseStep = (
  consumer: Consumer,
  pool: Pool,
  store: EventStore,
  register: SetAsideRegister,
  key: string,
  size: number,
  onFailure: (failed: Failed) => void,
): Promise<Step> =>
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
      onFailure({ event: handled[0]!, error });
      throw error;
    }
    await runSteps(client, [unpark(consumer.name, key)]);
    if (!more) {
      await intervene(client, consumer.name);
      return { handled, done: true, held };
    }
    for (const one of waiting) {
      const last = events.findLast(({ stream }) => stream === one.stream);
      const next = last ? { ...one, revision: last.revision + 1n, position: last.position + 1n } : { ...one };
      const place = { ...next, id: one.eventId, type: one.eventType } as unknown as StoredEvent;
      await runSteps(client, [park(consumer, place, key, one.cause, one.error)]);
    }
    return { handled, done: false, held };
  });

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
