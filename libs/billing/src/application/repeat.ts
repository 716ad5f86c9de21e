import { setTimeout as delay } from 'node:timers/promises';

/**
 * Does something every so many milliseconds until the signal aborts. A round that fails is reported, and the next one
 * comes as usual.
 */
export const repeat = async (
  everyMs: number,
  round: (signal: AbortSignal) => Promise<void>,
  onError: (error: unknown) => void,
  signal: AbortSignal,
): Promise<void> => {
  while (!signal.aborted) {
    await round(signal).catch(onError);
    await delay(everyMs, undefined, { signal }).catch(() => undefined);
  }
};
