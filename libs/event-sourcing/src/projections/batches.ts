import type { StoredEvent } from '../core/event.js';

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
