import type { StoredEvent } from '../core/event.js';
import { categoryOf } from '../core/stream-name.js';
import type { EventStore } from './event-store.js';

/** Events that the server looks at between two checkpoints of the subscription. */
const CHECKPOINT_EVERY = 256;
/** The last events are read, not followed: a server reports no checkpoint for less than its interval. */
const LAST_STRETCH = 2 * CHECKPOINT_EVERY;
/** A server that reports neither event nor checkpoint for this long is read instead. */
const SILENT_MS = 10_000;

export interface EventRange {
  readonly categories: readonly string[];
  /** Position of the last event not to yield; `null` starts at the beginning. */
  readonly after: bigint | null;
  /** Position of the last event to yield. The log reaches at least that far. */
  readonly to: bigint;
}

/**
 * The events of some categories up to a position. The server sends no others but the last few: a filtered subscription,
 * then a short read. A filtered read alone would be silent while the server passes over many other events, so nobody
 * could tell it from one that hangs.
 */
export async function* eventsUpTo(
  store: Pick<EventStore, 'readAll' | 'subscribe'>,
  { categories, after, to }: EventRange,
  silentMs = SILENT_MS,
): AsyncGenerator<StoredEvent> {
  let reached = after;
  const stop = await lastStretch(store, after, to);
  if (stop !== null) {
    let isLeft = false;
    let progressed = true;
    let isWaiting = true;
    const subscription = store.subscribe({
      after,
      categories,
      checkpointEvery: CHECKPOINT_EVERY,
      onCheckpoint: (position) => {
        progressed = true;
        // The first one may be the position it started from, or nothing.
        if (position > (reached ?? 0n)) reached = position;
        if (position >= stop) leave();
      },
    });
    const leave = (): void => {
      isLeft = true;
      subscription.close().catch(() => undefined);
    };
    const watch = setInterval(() => {
      if (isWaiting && !progressed) leave();
      progressed = false;
    }, silentMs);
    try {
      for await (const event of subscription) {
        if (event.position > to) return;
        reached = event.position;
        isWaiting = false;
        yield event;
        progressed = isWaiting = true;
        if (reached >= stop) break;
      }
    } catch (error) {
      if (!isLeft) throw error;
    } finally {
      clearInterval(watch);
      await subscription.close();
    }
  }
  for await (const event of store.readAll({ after: reached })) {
    if (event.position > to) return;
    if (categories.includes(categoryOf(event.stream))) yield event;
  }
}

/** Where the last events before a position begin; `null` when there are no more of them than those. */
const lastStretch = async (
  store: Pick<EventStore, 'readAll'>,
  after: bigint | null,
  to: bigint,
): Promise<bigint | null> => {
  let count = 0;
  for await (const { position } of store.readAll({ after: to, direction: 'backwards' })) {
    if (after !== null && position <= after) return null;
    count += 1;
    if (count >= LAST_STRETCH) return position;
  }
  return null;
};

/** Part of a stream: from a revision, and not before a position of the log. */
export interface StreamPart {
  readonly stream: string;
  readonly from?: bigint;
  readonly position?: bigint;
}

/** Events of several streams in log order, up to a position. */
export async function* mergedStreams(
  store: Pick<EventStore, 'read'>,
  parts: readonly StreamPart[],
  upTo: bigint,
): AsyncGenerator<StoredEvent> {
  const sources = parts.map(({ stream, from = 0n, position = 0n }) => ({
    events: store.read(stream, { from })[Symbol.asyncIterator](),
    position,
  }));
  const advance = async ({ events, position }: (typeof sources)[number]): Promise<StoredEvent | null> => {
    for (;;) {
      const next = await events.next();
      if (next.done || next.value.position > upTo) return null;
      if (next.value.position >= position) return next.value;
    }
  };
  try {
    const heads = await Promise.all(sources.map(advance));
    for (;;) {
      let first = -1;
      heads.forEach((event, place) => {
        if (event && (first < 0 || event.position < heads[first]!.position)) first = place;
      });
      if (first < 0) return;
      yield heads[first]!;
      heads[first] = await advance(sources[first]!);
    }
  } finally {
    for (const { events } of sources) await events.return?.();
  }
}
