import type { StoredEvent } from '../core/event.js';
import type { EventStore } from './event-store.js';

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
