import { Query } from '@app/platform/cqrs/message.js';
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
