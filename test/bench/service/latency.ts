import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Integrator } from '../../support/integrator.js';
import { somebody } from './somebody.js';
import { untilRow } from './until-row.js';

/**
 * Measures the time from the 202 response until a caller can see that the document is available, one reading at a time.
 * Does not use `publishedAt` − `createdAt`, since `publishedAt` is fixed before rendering. @returns milliseconds
 */
export const measureLatency = async (
  customer: Integrator,
  database: pg.Pool,
  readings: number,
): Promise<number[]> => {
  const latencies: number[] = [];
  for (let made = 0; made < readings; made += 1) {
    const { body } = await customer.create(somebody(made));
    latencies.push(await untilRow(database, body.readingId, 'published_at is not null'));
    await delay(100);
  }
  return latencies;
};
