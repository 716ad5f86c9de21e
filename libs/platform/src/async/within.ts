import { beforeDeadline } from '#event-sourcing/timing/deadline.js';

/**
 * The result of the work, or `null` when it fails or takes longer. The work continues then; the caller just stops
 * waiting.
 */
export const within = <T>(milliseconds: number, work: Promise<T>): Promise<T | null> =>
  beforeDeadline<T, null>(milliseconds, work, () => null).catch(() => null);
