/**
 * Upper bounds of the classes of durations (ms), inclusive; the last class has no bound. Never changed: stored sums count
 * by them.
 */
export const LATENCY_BOUNDS_MS = [
  5, 10, 20, 30, 50, 75, 100, 150, 200, 300, 400, 500, 750, 1_000, 1_500, 2_000, 3_000, 5_000, 7_500, 10_000,
  15_000,
] as const;

/** Classes of durations. */
export const LATENCY_CLASSES = LATENCY_BOUNDS_MS.length + 1;

/** The sum of counts by class. */
export const addCounts = (a: readonly number[], b: readonly number[]): readonly number[] =>
  Array.from({ length: LATENCY_CLASSES }, (_, index) => (a[index] ?? 0) + (b[index] ?? 0));

/**
 * The duration (ms) that a share of the attempts does not exceed, even within its class: exact to the width of the class.
 * Beyond the last bound, that bound. @param share above 0, up to 1 @returns `null` without attempts
 */
export const percentile = (counts: readonly number[], share: number): number | null => {
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === 0) return null;
  const rank = share * total;
  let below = 0;
  for (const [index, count] of counts.entries()) {
    if (count > 0 && below + count >= rank) {
      const from = index === 0 ? 0 : LATENCY_BOUNDS_MS[index - 1]!;
      const to = LATENCY_BOUNDS_MS[index] ?? from;
      return Math.round(from + ((to - from) * (rank - below)) / count);
    }
    below += count;
  }
  return LATENCY_BOUNDS_MS.at(-1)!;
};
