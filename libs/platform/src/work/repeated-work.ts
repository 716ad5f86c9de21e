import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { isStoreAway } from '#event-sourcing/store/errors.js';
import { Recurring } from '#event-sourcing/timing/recurring.js';
import type { WorkLoop } from './work-registry.js';

/**
 * Runs the work at a fixed interval (ms) until aborted. A failed round is logged, at growing intervals while it keeps
 * failing, and the next one follows as usual: an unavailable database is no reason to stop. That the event store is away, its
 * connection says for the whole process.
 */
export const repeatedWork = (
  name: string,
  everyMs: number,
  round: (signal: AbortSignal) => Promise<unknown>,
  log: Pick<Logger, 'warn'>,
): WorkLoop => ({
  name,
  async run(signal) {
    const recurring = new Recurring();
    while (!signal.aborted) {
      await round(signal).then(
        () => recurring.over(),
        (error: unknown) => {
          if (isStoreAway(error)) return;
          const reason = error instanceof Error ? error.message : 'unknown';
          const times = recurring.happened(reason);
          if (times > 0) log.warn({ loop: name, reason, times }, 'round failed');
        },
      );
      await delay(everyMs, undefined, { signal }).catch(() => undefined);
    }
  },
});
