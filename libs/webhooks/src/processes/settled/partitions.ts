import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Logger } from 'pino';
import { instant } from '#event-sourcing/core/clock.js';
import type { TrustedClock } from '#event-sourcing/core/trusted-clock.js';
import { repeatedWork } from '#platform/work/repeated-work.js';
import type { WorkLoop } from '#platform/work/work-registry.js';

const EVERY_MS = 3_600_000;
/** Partitions exist this long before the first delivery of their week is settled. */
const AHEAD_MS = 28 * 86_400_000;
/** The functions of migration 0016 wait 150 ms for a lock; sending waits behind them. In between, it catches up. */
const TRIES = 50;
const BETWEEN_TRIES_MS = 1_000;
const LOCK_NOT_AVAILABLE = '55P03';

/** Makes the partitions of the coming weeks. Without it for four weeks, the net takes what is settled. */
export const makePartitions = (pool: pg.Pool, clock: TrustedClock, log: Pick<Logger, 'warn'>): WorkLoop =>
  repeatedWork(
    'webhooks.partitions',
    EVERY_MS,
    async (signal) => {
      const now = await clock.now();
      await whenLocked(signal, () =>
        pool.query('select webhooks.add_partitions($1, $2)', [instant(now), instant(now + AHEAD_MS)]),
      );
    },
    log,
  );

/** Repeats a change of the partitions that others were in the way of. @throws its last error */
export const whenLocked = async <T>(
  signal: AbortSignal,
  change: () => Promise<T>,
  betweenTriesMs = BETWEEN_TRIES_MS,
): Promise<T> => {
  for (let tries = 1; ; tries += 1) {
    try {
      return await change();
    } catch (error) {
      const isLocked = (error as { code?: unknown }).code === LOCK_NOT_AVAILABLE;
      if (!isLocked || tries === TRIES || signal.aborted) throw error;
      await delay(betweenTriesMs, undefined, { signal }).catch(() => undefined);
    }
  }
};
