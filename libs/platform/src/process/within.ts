import { withDeadline } from '@app/event-sourcing/timing/deadline.js';

/** What the work yields, or `null` when it fails or takes longer; it is not ended then, only not waited for. */
export const within = <T>(milliseconds: number, work: Promise<T>): Promise<T | null> =>
  withDeadline<T | null, null>(
    milliseconds,
    () => work.catch(() => null),
    () => null,
  );
