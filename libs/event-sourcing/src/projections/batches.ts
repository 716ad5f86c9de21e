import type { StoredEvent } from '../core/event.js';

export interface Batch {
  readonly events: readonly StoredEvent[];
  /** Everything up to here has been seen, whether it was of interest or not. */
  readonly position: bigint;
}

/**
 * Groups what a subscription delivers into batches: whatever has arrived since the previous batch, at most `maximum`
 * events. An event that comes after a pause is delivered at once; while others follow, `spacingMs` lie between one batch
 * and the next, because a transaction costs about as much for one event as for twenty. The source is paused when a full
 * batch waits, so memory stays bounded. When nothing of interest comes, `quietPosition` is asked now and then, and an
 * empty batch moves the checkpoint.
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
      // A source that broke may have told of a position and still owe the events before it.
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
