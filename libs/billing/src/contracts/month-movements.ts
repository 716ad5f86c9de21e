import { Query } from '#platform/cqrs/message.js';
import type { Accounts } from './events.js';
import type { LedgerEntry } from './queries.js';

/** The end of a month in a book, to show. */
export interface MonthMovements {
  readonly closed: boolean;
  readonly opening: Accounts;
  readonly closing: Accounts;
  /** The newest first. */
  readonly entries: readonly LedgerEntry[];
  /** The month has entries before them. */
  readonly hasEarlier: boolean;
}

/** The newest entries of a month (`yyyy-mm`, UTC), however many it has; `null` when nothing is recorded of it. */
export class GetMonthMovements extends Query<MonthMovements | null> {
  constructor(
    readonly workspaceId: string,
    readonly period: string,
    readonly limit: number,
  ) {
    super();
  }
}

/** The whole of a month, to pass on. */
export interface StreamedMonth {
  /** How many entries it has, at most: what it costs to read them. */
  readonly count: number;
  /** The oldest first. A page of them is read when its first is asked for, and no more than one is held. */
  readonly entries: AsyncIterable<LedgerEntry>;
}

/** Every entry of a month (`yyyy-mm`, UTC), as in its `MonthlyStatement`; `null` when nothing is recorded of it. */
export class StreamMonthMovements extends Query<StreamedMonth | null> {
  constructor(
    readonly workspaceId: string,
    readonly period: string,
  ) {
    super();
  }
}
