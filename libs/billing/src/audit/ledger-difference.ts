import type { LedgerDifference } from '../contracts/audit.js';

/** Something found, and the position in the log where it shows. */
export interface Placed<T> {
  readonly position: bigint;
  readonly found: T;
}

export const byPosition = (a: { readonly position: bigint }, b: { readonly position: bigint }): number =>
  a.position < b.position ? -1 : a.position > b.position ? 1 : 0;

/** What the log lacks at its end. It is pending while it is young. */
export interface Missing {
  /** Position of the book's or the reading's first event: reports are in this order. */
  readonly position: bigint;
  /** Milliseconds: since when. `null`: it is a difference at any age. */
  readonly since: number | null;
  readonly difference: LedgerDifference;
}

export const differenceOf = (
  kind: LedgerDifference['kind'],
  workspaceId: string,
  message: string,
  ids: Partial<Pick<LedgerDifference, 'readingId' | 'creditsEventId' | 'readingEventId'>>,
): LedgerDifference => ({
  kind,
  workspaceId,
  readingId: null,
  creditsEventId: null,
  readingEventId: null,
  ...ids,
  message,
});
