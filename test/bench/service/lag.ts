import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Integrator } from '../../support/integrator.js';
import { somebody } from './somebody.js';
import { untilRow } from './until-row.js';

/** Readings offered in a second. */
export const OFFERED = 100;
/** One in N readings is measured. */
const WATCHED = 4;

/**
 * Measures the time from a reading's acceptance, as recorded in its event, to its row, while 100 readings per second
 * are offered. A slow machine accepts fewer, or refuses some.
 * @returns lags in milliseconds, ascending, and the readings accepted in a second
 */
export const measureLag = async (
  customer: Integrator,
  database: pg.Pool,
  seconds: number,
): Promise<{ readonly lags: readonly number[]; readonly perSecond: number }> => {
  const lags: number[] = [];
  const pending: Promise<void>[] = [];
  const startedAt = performance.now();
  let acceptedAt = startedAt;
  let accepted = 0;
  for (let n = 0; n < seconds * OFFERED; n += 1) {
    await delay(startedAt + (n * 1_000) / OFFERED - performance.now());
    pending.push(
      (async () => {
        const { status, body } = await customer.create(somebody(n));
        if (status !== 202) return;
        accepted += 1;
        acceptedAt = performance.now();
        if (n % WATCHED === 0) lags.push(await lagOf(database, body.readingId));
      })(),
    );
  }
  await Promise.all(pending);
  const perSecond = (accepted * 1_000) / (acceptedAt - startedAt);
  return { lags: lags.sort((one, other) => one - other), perSecond };
};

const lagOf = async (database: pg.Pool, readingId: string): Promise<number> => {
  await untilRow(database, readingId);
  const seenAt = Date.now();
  const { rows } = await database.query<{ acceptedAt: Date }>(
    'select created_at as "acceptedAt" from readings.reading where reading_id = $1',
    [readingId],
  );
  return seenAt - rows[0]!.acceptedAt.getTime();
};
