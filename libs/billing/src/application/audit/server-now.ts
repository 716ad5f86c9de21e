import type pg from 'pg';
import type { TrustedClock } from '#event-sourcing/core/trusted-clock.js';

/**
 * The time of PostgreSQL (ms): whether a month is over does not depend on the machine that asks.
 * @throws ClockUntrusted while the clocks of the servers and of this process differ by more than CLOCK_REFUSE_MS
 */
export const serverNow = async (pool: pg.Pool, clock: TrustedClock): Promise<number> => {
  await clock.now();
  const { rows } = await pool.query<{ now: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now',
  );
  return Math.floor(rows[0]!.now);
};
