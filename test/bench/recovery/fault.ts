import { setTimeout as delay } from 'node:timers/promises';

/** One row of the table that `npm run recovery` prints. */
export interface Recovery {
  readonly fault: string;
  /** What had to succeed again, such as `a POST` or `a reading`. */
  readonly measured: string;
  /** From the fault until it succeeded again. */
  readonly seconds: number;
  /** Of these, until the other side could serve again. `null`: it could all the time, or nobody knows. */
  readonly otherSide: number | null;
  /** For as long, calls failed: an API answered 503, or none answered. */
  readonly failing: number;
}

/** A fault that a recovery is measured from. It starts and stops what it needs. */
export interface Fault {
  /** Its name on the command line. */
  readonly name: string;
  run(say: (text: string) => void): Promise<readonly Recovery[]>;
}

const EVERY_MS = 50;
/** The recovery is over after a second in which all calls succeeded. */
const QUIET_MS = 1_000;
const GIVEN_UP_AFTER_MS = 180_000;

interface Call {
  readonly begunAt: number;
  endedAt: number | null;
  failed: boolean;
}

/**
 * Calls `work` at this interval (ms), however long calls take, and inflicts the fault.
 * @param mayEnd whether the fault is over
 * @returns seconds from the fault until the end of the first call that succeeded after the last one that failed, and
 *   seconds of calls that failed
 * @throws Error when calls still fail after three minutes
 */
export const recoveryAfter = async (
  work: () => Promise<unknown>,
  inflict: () => Promise<void> | void,
  everyMs = EVERY_MS,
  mayEnd = (): boolean => true,
): Promise<Pick<Recovery, 'seconds' | 'failing'>> => {
  const enough = Math.ceil(QUIET_MS / everyMs);
  await secondsUntil(async () => (await work(), true));
  const faultAt = performance.now();
  await inflict();
  const calls: Call[] = [];
  const open = new Set<Promise<void>>();
  do {
    while (!mayEnd() || !isOver(calls, enough)) {
      if (performance.now() - faultAt > GIVEN_UP_AFTER_MS)
        throw new Error('Calls still fail after three minutes');
      const call: Call = { begunAt: performance.now(), endedAt: null, failed: false };
      calls.push(call);
      const made: Promise<void> = work()
        .catch(() => void (call.failed = true))
        .then(() => void (call.endedAt = performance.now()))
        .finally(() => open.delete(made));
      open.add(made);
      await delay(everyMs);
    }
    await Promise.all(open);
    // A slow one may have failed.
  } while (!isOver(calls, enough));
  const failed = calls.filter((call) => call.failed);
  const lastFailed = Math.max(-Infinity, ...failed.map(({ begunAt }) => begunAt));
  const ends = calls
    .filter((call) => !call.failed && call.begunAt > lastFailed)
    .map(({ endedAt }) => endedAt!);
  return {
    seconds: (Math.min(...ends) - faultAt) / 1_000,
    failing: (failed.length * everyMs) / 1_000,
  };
};

/** Whether the newest calls that have ended all succeeded. */
const isOver = (calls: readonly Call[], enough: number): boolean => {
  const ended = calls.filter(({ endedAt }) => endedAt !== null);
  return ended.length >= enough && ended.slice(-enough).every(({ failed }) => !failed);
};

/** Asks every 50 ms. @returns seconds until the answer is yes */
export const secondsUntil = async (condition: () => Promise<boolean>): Promise<number> => {
  const startedAt = performance.now();
  while (!(await condition().catch(() => false))) {
    if (performance.now() - startedAt > GIVEN_UP_AFTER_MS) throw new Error('Not within three minutes');
    await delay(EVERY_MS);
  }
  return (performance.now() - startedAt) / 1_000;
};
