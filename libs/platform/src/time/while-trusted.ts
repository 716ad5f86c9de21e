import type { WorkLoop } from '../work/work-registry.js';
import type { TrustedTime } from './trusted-time.js';

/**
 * Work that runs only while the clocks can be trusted. It starts after the first comparison, stops when they differ too
 * much, and starts again when they agree. The loop must be able to run more than once.
 */
export const whileTrusted = (time: TrustedTime, loop: WorkLoop): WorkLoop => ({
  ...loop,
  name: loop.name,
  async run(signal) {
    while (await untilTrusted(time, signal)) {
      const refused = new AbortController();
      const stopListening = time.onChange(({ level }) => {
        if (level === 'refused') refused.abort();
      });
      try {
        await loop.run(AbortSignal.any([signal, refused.signal]));
      } finally {
        stopListening();
      }
      if (!refused.signal.aborted) return;
    }
  },
});

/** @returns false when the signal aborted first */
const untilTrusted = (time: TrustedTime, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    const settle = (): void => {
      const { level } = time.verdict;
      const mayWork = level === 'trusted' || level === 'warning';
      if (!mayWork && !signal.aborted) return;
      stopListening();
      signal.removeEventListener('abort', settle);
      resolve(!signal.aborted);
    };
    const stopListening = time.onChange(settle);
    signal.addEventListener('abort', settle);
    settle();
  });
