import { performance } from 'node:perf_hooks';

/** At most twenty transactions a second per consumer. Milliseconds. */
const AT_EASE_MS = 50;
/** Four times fewer transactions, and a lag that nobody sees. Milliseconds. */
const BUSY_MS = 200;
/** Share of the time for which the process's thread was busy, from which it counts as loaded. */
const BUSY_FROM = 0.4;

/** Cumulative times of the event loop, as `performance.eventLoopUtilization()` gives them. */
export type LoopTimes = Readonly<Record<'idle' | 'active', number>>;

/**
 * The least time between two batches of a consumer. A transaction costs about as much for one event as for twenty, so a
 * busy process makes fewer of them. Each call looks at the time since the call before it.
 * @param prompt whether somebody waits for what the consumer writes: its batches never lie further apart
 */
export const spacingByLoad = (
  prompt: boolean,
  loopTimes: () => LoopTimes = () => performance.eventLoopUtilization(),
): (() => number) => {
  let before = loopTimes();
  return () => {
    const now = loopTimes();
    const [active, idle] = [now.active - before.active, now.idle - before.idle];
    before = now;
    return !prompt && active > BUSY_FROM * (active + idle) ? BUSY_MS : AT_EASE_MS;
  };
};
