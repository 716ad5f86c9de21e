import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { WorkLoop } from './work-registry.js';

/**
 * Runs the work at a fixed interval (ms) until aborted. A failed round is logged and the next one follows as usual: an
 * unavailable database is no reason to stop.
 */
export const repeatedWork = (
  name: string,
  everyMs: number,
  round: (signal: AbortSignal) => Promise<unknown>,
  log: Pick<Logger, 'warn'>,
): WorkLoop => ({
  name,
  async run(signal) {
    while (!signal.aborted) {
      await round(signal).catch((error: unknown) => {
        log.warn({ loop: name, reason: error instanceof Error ? error.message : 'unknown' }, 'round failed');
      });
      await delay(everyMs, undefined, { signal }).catch(() => undefined);
    }
  },
});
