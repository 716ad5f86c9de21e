import type { StoreConnection } from '#event-sourcing/store/event-store.js';
import type { WorkLoop } from '../work/work-registry.js';

const EVERY_MS = 1_000;

/**
 * Fails once the connection to the event store has been unusable continuously for `afterMs`. The process then ends and
 * its supervisor starts another, because not every supervisor restarts what a probe reports as stuck.
 * @param afterMs time for a probe to detect it first; 0 for a process without probes
 */
export const endBeyondHelp = (
  connection: Pick<StoreConnection, 'beyondHelp'>,
  afterMs: number,
): WorkLoop => ({
  name: 'event store connection',
  run: (signal) =>
    new Promise((resolve, reject) => {
      let since: number | null = null;
      const timer = setInterval(() => {
        since = connection.beyondHelp ? (since ?? performance.now()) : null;
        if (since === null || performance.now() - since < afterMs) return;
        clearInterval(timer);
        reject(new Error('The connection to the event store is unusable'));
      }, EVERY_MS);
      signal.addEventListener('abort', () => {
        clearInterval(timer);
        resolve();
      });
    }),
});
