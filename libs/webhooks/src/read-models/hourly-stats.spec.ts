import fc from 'fast-check';
import { describe, expect, it } from '@jest/globals';
import { LATENCY_BOUNDS_MS, LATENCY_CLASSES, addCounts, percentile } from './hourly-stats.js';

/** As the database classes a duration (`countAttempts`). */
const classOf = (ms: number): number => {
  const found = LATENCY_BOUNDS_MS.findIndex((bound) => ms <= bound);
  return found === -1 ? LATENCY_BOUNDS_MS.length : found;
};
const counted = (durations: readonly number[]): readonly number[] =>
  durations.reduce<readonly number[]>((counts, ms) => {
    const one = Array.from({ length: LATENCY_CLASSES }, (_, index) => Number(index === classOf(ms)));
    return addCounts(counts, one);
  }, []);

describe('A percentile', () => {
  it('is null without attempts', () => {
    expect(percentile(addCounts([], []), 0.5)).toBeNull();
  });

  it('is in the class of the attempt that has this rank, whatever the durations', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 0, max: 20_000 }), { minLength: 1, maxLength: 200 }),
        fc.constantFrom(0.5, 0.95, 0.99),
        (durations, share) => {
          const exact = durations.toSorted((a, b) => a - b)[Math.ceil(share * durations.length) - 1]!;
          const found = percentile(counted(durations), share)!;
          const index = classOf(exact);
          expect(found).toBeGreaterThanOrEqual(LATENCY_BOUNDS_MS[index - 1] ?? 0);
          expect(found).toBeLessThanOrEqual(LATENCY_BOUNDS_MS[index] ?? LATENCY_BOUNDS_MS.at(-1)!);
        },
      ),
    );
  });
});
