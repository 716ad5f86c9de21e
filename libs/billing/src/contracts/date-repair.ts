import { Query } from '@app/platform/cqrs/message.js';

/** Most entries of one proposal: a person has to look at all of them. */
export const MOST_REPAIRS = 500;

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

/** A correction that repairs dates of the book, and is neither booked nor ended. */
export interface OpenDateRepair {
  readonly correctionId: string;
  readonly reference: string;
  readonly status: 'proposed' | 'approved';
  /** Its entries of the plan that are not booked yet. */
  readonly entries: number;
}

/** What a book needs, whatever corrections have been proposed. */
export interface DatePlan {
  readonly workspaceId: string;
  /** Entries whose dates the store's record time contradicts. */
  readonly misdated: number;
  /** Not booked yet, in the order in which to book them. */
  readonly adjustments: readonly DateAdjustment[];
  /** What no entry can repair, one sentence each: for the book's documents and for whoever approves. */
  readonly notes: readonly string[];
}

/** A plan without the entries that are in an open correction. */
export interface DateRepair extends DatePlan {
  /**
   * How many of the adjustments, from the first, make the next proposal: `MOST_REPAIRS` and CORRECTION_MAX_CREDITS at most.
   * Those that reverse the same entry stay together, so a single entry may exceed both.
   */
  readonly next: number;
  /** Corrections that have the rest. */
  readonly open: readonly OpenDateRepair[];
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
