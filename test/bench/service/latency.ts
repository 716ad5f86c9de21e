import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Integrator } from '../../support/integrator.js';
import { somebody } from './somebody.js';
import { untilRow } from './until-row.js';

/**
 * Milliseconds from the answer 202 until a caller is told that the document is available, of readings made one at a
 * time. Not `publishedAt` less `createdAt`: `publishedAt` is fixed before the document is made.
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
