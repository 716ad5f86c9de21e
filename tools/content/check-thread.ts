import type { Locale } from '#publishing/document/document.js';
import { checkReadings, type ReadingFault } from './check-readings.js';
import { childLengthFaults, lengthLimitFaults, limitFaults } from './limits.js';
import { measureReadings } from './reading-stats.js';

/** What a thread of the check does: the readings of some people, or what those of one language share. */
export type CheckTask =
  | { readonly kind: 'readings'; readonly people: number; readonly seed: number }
  | { readonly kind: 'limits'; readonly locale: Locale; readonly people: number; readonly seed: number };

/** Faults of readings, or limits exceeded. */
export type CheckAnswer = readonly ReadingFault[] | readonly string[];

/** Entry point of a thread. */
export default (task: CheckTask): CheckAnswer => {
  if (task.kind === 'readings') return [...checkReadings(task.people, task.seed)].flat();
  const stats = measureReadings(task.locale, task.people, task.seed);
  return [...limitFaults(stats), ...lengthLimitFaults(stats), ...childLengthFaults(stats)].map(
    (fault) => `${task.locale} ${fault}`,
  );
};
