import type { Integrator } from '../../support/integrator.js';
import { somebody } from './somebody.js';

const READINGS = 1_000;
/** Bulks before the measurement, so that the hot code is compiled. */
const WARM_UP = 3;
const BULKS = 5;

const readings = Array.from({ length: READINGS }, (_, index) => somebody(index));

/** One bulk of 1,000 readings. @throws Error when one is refused */
const acceptBulk = async (customer: Integrator): Promise<void> => {
  const body = { mode: 'all', readings };
  const answer = await customer.call<{ accepted: number }>('POST', '/api/v1/readings/bulk', { body });
  if (answer.body.accepted !== READINGS) throw new Error(`A bulk was answered ${answer.status}.`);
};

/** Bulks of 1,000 readings, one after another. @returns milliseconds of each */
export const measureBulks = async (customer: Integrator): Promise<readonly number[]> => {
  const took: number[] = [];
  for (let bulk = 0; bulk < WARM_UP + BULKS; bulk += 1) {
    const startedAt = performance.now();
    await acceptBulk(customer);
    took.push(performance.now() - startedAt);
  }
  return took.slice(WARM_UP);
};

/** Readings accepted in a second. */
export const bulkRate = (took: readonly number[]): number =>
  (took.length * READINGS * 1_000) / took.reduce((sum, ms) => sum + ms, 0);
