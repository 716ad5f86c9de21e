import { setTimeout as delay } from 'node:timers/promises';
import type { WorkLoop } from '../work/work-registry.js';
import type { TrustedTime } from './trusted-time.js';

/** How often the wall clock is held against the monotonic one (ms). It costs nothing. */
const LOOK_EVERY_MS = 250;
/** How often the clocks of the servers are asked (ms). */
const COMPARE_EVERY_MS = 5_000;

/** Compares the clocks at the start and at intervals, and at once when this process's clock was set. */
export const watchTime = (time: TrustedTime): WorkLoop => ({
  name: 'clock',
  async run(signal) {
    let comparedAt = -Infinity;
    while (!signal.aborted) {
      if (!time.isFresh() || performance.now() - comparedAt >= COMPARE_EVERY_MS) {
        comparedAt = performance.now();
        // A server that is away has checks and log lines of its own.
        await time.compare().catch(() => undefined);
      }
      await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  },
});

/**
 * Work that runs only while the clocks can be trusted. It starts after the first comparison, stops when they differ too
 * much, and starts again when they agree. The loop must be able to run more than once.
 */
export const whileTrusted = (time: Pick<TrustedTime, 'verdict'>, loop: WorkLoop): WorkLoop => ({
  ...loop,
  async run(signal) {
    while (!signal.aborted) {
      const { level } = time.verdict;
      if (level === 'trusted' || level === 'warning') {
        const refused = new AbortController();
        const look = setInterval(() => {
          if (time.verdict.level === 'refused') refused.abort();
        }, LOOK_EVERY_MS);
        await loop.run(AbortSignal.any([signal, refused.signal])).finally(() => clearInterval(look));
        if (!refused.signal.aborted) return;
      }
      await delay(LOOK_EVERY_MS, undefined, { signal }).catch(() => undefined);
    }
  },
});
