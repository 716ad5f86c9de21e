import { setTimeout as delay } from 'node:timers/promises';

/** One row of the table in docs/operations.md. */
export interface Recovery {
  readonly fault: string;
  /** What had to succeed again, such as `a POST` or `a reading`. */
  readonly measured: string;
  /** From the fault until it succeeded again. */
  readonly seconds: number;
  /** Of these, until the other side could serve again. `null`: it could all the time, or nobody knows. */
  readonly otherSide: number | null;
}

/** A fault that a recovery is measured from. It starts and stops what it needs. */
export interface Fault {
  /** Its name on the command line. */
  readonly name: string;
  run(say: (text: string) => void): Promise<readonly Recovery[]>;
}

const EVERY_MS = 50;
/** After so many calls in a row that succeeded, the recovery is over. */
const ENOUGH = 20;
const GIVEN_UP_AFTER_MS = 180_000;

interface Call {
  readonly begunAt: number;
  endedAt: number | null;
  failed: boolean;
}

/**
 * Calls `work` every 50 ms, however long calls take, and inflicts the fault.
 * @returns seconds from the fault until the end of the first call that succeeded after the last one that failed
 * @throws Error when calls still fail after three minutes
 */
export const recoveryAfter = async (
  work: () => Promise<unknown>,
  inflict: () => Promise<void> | void,
): Promise<number> => {
  await work();
  const faultAt = performance.now();
  await inflict();
  const calls: Call[] = [];
  const open = new Set<Promise<void>>();
  while (!isOver(calls)) {
    if (performance.now() - faultAt > GIVEN_UP_AFTER_MS)
      throw new Error('Calls still fail after three minutes');
    const call: Call = { begunAt: performance.now(), endedAt: null, failed: false };
    calls.push(call);
    const made: Promise<void> = work()
      .catch(() => void (call.failed = true))
      .then(() => void (call.endedAt = performance.now()))
      .finally(() => open.delete(made));
    open.add(made);
    await delay(EVERY_MS);
  }
  await Promise.all(open);
  const lastFailed = Math.max(
    -Infinity,
    ...calls.filter(({ failed }) => failed).map(({ begunAt }) => begunAt),
  );
  const ends = calls
    .filter(({ failed, begunAt }) => !failed && begunAt > lastFailed)
    .map(({ endedAt }) => endedAt!);
  return (Math.min(...ends) - faultAt) / 1_000;
};

/** Whether the newest calls that have ended all succeeded, and none is left behind them. */
const isOver = (calls: readonly Call[]): boolean => {
  const ended = calls.filter(({ endedAt }) => endedAt !== null);
  return ended.length >= ENOUGH && ended.slice(-ENOUGH).every(({ failed }) => !failed);
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
