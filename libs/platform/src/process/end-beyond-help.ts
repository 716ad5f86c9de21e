import { setTimeout as delay } from 'node:timers/promises';
import type { StoreConnection } from '#event-sourcing/store/event-store.js';
import type { WorkLoop } from '../work/work-registry.js';

const EVERY_MS = 1_000;

interface Time {
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number;
  readonly pause: (milliseconds: number, signal: AbortSignal) => Promise<void>;
}

const realTime: Time = {
  now: () => performance.now(),
  pause: (milliseconds, signal) => delay(milliseconds, undefined, { signal }).catch(() => undefined),
};

/**
 * Fails once the connection to the event store has been unusable continuously for `afterMs`. The process then ends and
 * its supervisor starts another, because not every supervisor restarts what a probe reports as stuck.
 * @param afterMs time for a probe to detect it first; 0 for a process without probes
 */
export const endBeyondHelp = (
  connection: Pick<StoreConnection, 'beyondHelp'>,
  afterMs: number,
  { now, pause }: Time = realTime,
): WorkLoop => ({
  name: 'event store connection',
  async run(signal) {
    let since: number | null = null;
    while (!signal.aborted) {
      since = connection.beyondHelp ? (since ?? now()) : null;
      if (since !== null && now() - since >= afterMs)
        throw new Error('The connection to the event store is unusable');
      await pause(EVERY_MS, signal);
    }
  },
});
