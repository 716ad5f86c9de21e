import type { ExpectedRevision } from './event-store.js';

/** Another writer appended first. */
export class WrongExpectedRevision extends Error {
  override readonly name = 'WrongExpectedRevision';
  constructor(
    readonly stream: string,
    readonly expected: ExpectedRevision,
    readonly actual: ExpectedRevision,
  ) {
    super(`${stream} is at ${actual}, not ${expected}`);
  }
}

/** The store answers that its own data is damaged. Waiting does not help: somebody must restore a backup. */
export class StoreDamaged extends Error {
  override readonly name = 'StoreDamaged';
}

/** More than one append may carry. Nothing was written, and no retry helps. */
export class AppendTooLarge extends Error {
  override readonly name = 'AppendTooLarge';
}

/** The store cannot be reached, is not ready, or gave no answer in time. */
export class StoreUnavailable extends Error {
  override readonly name = 'StoreUnavailable';
  constructor(
    message: string,
    /** True when the append may have been committed: only a retry with the same ids and revision shows it. */
    readonly outcomeUnknown: boolean,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** gRPC codes PERMISSION_DENIED and UNAUTHENTICATED. */
const NOT_PERMITTED = new Set<unknown>([7, 16]);

/** Whether the event store refuses this login or a right that it lacks: the same call fails until somebody grants it. */
export const isAccessDenied = (error: unknown): boolean => {
  const { type, code } = (error ?? {}) as { type?: unknown; code?: unknown };
  return type === 'access-denied' || NOT_PERMITTED.has(code);
};
