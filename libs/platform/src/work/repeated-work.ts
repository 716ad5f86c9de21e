import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import type { WorkLoop } from './work-registry.js';

/**
 * A loop that does something every so many milliseconds until it is told to end. A round that fails is logged, and the
 * next one comes as usual: a database that is away is no reason to stop.
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
