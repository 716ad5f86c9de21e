import type { Scheduler } from './scheduler.js';

let current: Scheduler | null = null;

const scheduler = (): Scheduler => {
  if (!current) throw new TypeError('No simulation is running');
  return current;
};

/** `node:timers/promises` on the clock of the running simulation. */
export const simulatedTimers = {
  setTimeout: (milliseconds: number) => scheduler().sleep(milliseconds),
  setImmediate: () => scheduler().sleep(0),
};

/** Renders almost nothing. The simulation does not check documents, and rendering them would take most of its time. */
export const simulatedRendering = {
  composeDocument: (_: unknown, { publishedAt }: { publishedAt: string }) => ({ publishedAt }),
  renderMarkdown: () => '# reading',
};

/** Runs work with the randomness, timers and monotonic clock of a simulation instead of the machine's. */
export const within = async <T>(simulated: Scheduler, work: () => Promise<T>): Promise<T> => {
  const real = {
    random: Math.random,
    now: performance.now,
    setTimeout: globalThis.setTimeout,
    clearTimeout: globalThis.clearTimeout,
  };
  const startedAt = simulated.now;
  current = simulated;
  Math.random = simulated.random.next;
  performance.now = () => simulated.now - startedAt;
  globalThis.setTimeout = ((run: () => void, milliseconds = 0) =>
    simulated.setTimer(run, milliseconds)) as never;
  globalThis.clearTimeout = ((timer: number) => simulated.clearTimer(timer)) as never;
  try {
    return await work();
  } finally {
    current = null;
    Math.random = real.random;
    performance.now = real.now;
    globalThis.setTimeout = real.setTimeout;
    globalThis.clearTimeout = real.clearTimeout;
  }
};
