import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Integrator } from '../../support/integrator.js';
import { somebody } from './somebody.js';
import { untilRow } from './until-row.js';

const PER_SECOND = 100;
/** Every so many readings, one is watched. */
const WATCHED = 4;

/** Milliseconds from the answer 202 until the reading has its row, while 100 readings a second are accepted; ascending. */
export const measureLag = async (
  customer: Integrator,
  database: pg.Client,
  seconds: number,
): Promise<number[]> => {
  const lags: number[] = [];
  const pending: Promise<void>[] = [];
  const startedAt = performance.now();
  for (let n = 0; n < seconds * PER_SECOND; n += 1) {
    await delay(startedAt + (n * 1_000) / PER_SECOND - performance.now());
    pending.push(
      (async () => {
        const { status, body } = await customer.create(somebody(n));
        if (status !== 202) throw new Error(`A request was answered ${status}`);
        if (n % WATCHED === 0) lags.push(await untilRow(database, body.readingId));
      })(),
    );
  }
  await Promise.all(pending);
  return lags.sort((one, other) => one - other);
};
