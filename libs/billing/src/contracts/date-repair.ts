import { Query } from '@app/platform/cqrs/message.js';

/**
 * A compensating entry for what a wrong clock did to a book. Plain data: a proposal that a second person approves can
 * carry it.
 */
export interface DateAdjustment {
  /** The same for every plan of this book, so that the entry is booked once. */
  readonly reference: string;
  /** The id of the entry that the clock caused. */
  readonly reversesEventId: string;
  /** Why, in one sentence for the ledger. */
  readonly cause: string;
  /** Signed credits. */
  readonly amount: number;
  /** For a negative amount: the grant to take from. */
  readonly grantId: string | null;
  /** For a positive amount: when the credits expire (RFC 3339), as they originally would. */
  readonly expiresAt: string | null;
  /** Book it no earlier (RFC 3339); `null`: now. */
  readonly notBefore: string | null;
}

export interface DateRepair {
  readonly workspaceId: string;
  /** Entries whose dates the store's record time contradicts. */
  readonly misdated: number;
  /** Not booked yet, in the order in which to book them. */
  readonly adjustments: readonly DateAdjustment[];
  /** What no entry can repair, one sentence each: for the book's documents and for whoever approves. */
  readonly notes: readonly string[];
}

/**
 * Plans the repair of a book that a wrong clock has damaged; changes nothing. `null` when there is no such book.
 * @throws ClockUntrusted while the clocks differ
 */
export class PlanDateRepair extends Query<DateRepair | null> {
  constructor(readonly workspaceId: string) {
    super();
  }
}
