import { Query } from '#platform/cqrs/message.js';
import type { SubscriptionSummary } from './commands.js';
import type { Account } from './events.js';

/** Whole credits. granted + adjusted = available + held + consumed + expired. */
export interface Balance {
  readonly available: number;
  readonly held: number;
  readonly consumed: number;
  readonly expired: number;
  /** Issued by plans and packs. */
  readonly granted: number;
  readonly adjusted: number;
}

/**
 * Folded from the stream, as of now. Credits expired by now count as expired. `null` when the book is not open. A test
 * book is as the next reservation would find it.
 */
export class GetBalance extends Query<Balance | null> {
  constructor(
    readonly workspaceId: string,
    readonly livemode = true,
  ) {
    super();
  }
}

export interface GrantSummary {
  readonly grantId: string;
  /** `test`: what a test book has. */
  readonly kind: 'plan' | 'pack' | 'adjustment' | 'test';
  readonly credits: number;
  readonly remaining: number;
  readonly expiresAt: string | null;
}

/** What a customer sees: grants with credits left, in burn order. */
export interface CreditsSummary {
  readonly available: number;
  readonly reserved: number;
  readonly grants: readonly GrantSummary[];
}

/**
 * Like GetBalance, with the grants: of the live book, or of the test book. A test book is never `null`: it is full until
 * its first reservation.
 */
export class GetCredits extends Query<CreditsSummary | null> {
  constructor(
    readonly workspaceId: string,
    readonly livemode: boolean,
  ) {
    super();
  }
}

/** `null`: there is none, or the workspace has no book. */
export class GetSubscription extends Query<SubscriptionSummary | null> {
  constructor(readonly workspaceId: string) {
    super();
  }
}

/** Signed: negative leaves the account, positive enters it. The postings of an event sum to zero. */
export interface Posting {
  readonly account: Account;
  readonly amount: number;
}

/** One event of a book as a row of a statement. */
export interface LedgerEntry {
  readonly eventId: string;
  readonly occurredAt: string;
  /** The type of a credits event; any text for an entry that is not interpreted. */
  readonly type: string;
  readonly revision: bigint;
  readonly postings: readonly Posting[];
  readonly availableAfter: number;
  readonly heldAfter: number;
  readonly readingId: string | null;
  readonly reservationId: string | null;
  /** The order of a pack, the approval of a plan, or the reference of a correction. */
  readonly reference: string | null;
  /** Who caused the entry, such as `operator:ada`. */
  readonly actor: string;
  /** Of a correction: the other operator. */
  readonly approvedBy: string | null;
  /** Of a correction. */
  readonly reason: string | null;
  /** Of a plan's month or a pack. */
  readonly priceCents: number | null;
  /** Of an entry that moves nothing: it cannot be read, or it is set aside. One sentence. */
  readonly unreadable?: string;
}

/** Every event of a book, oldest first; empty when the book is not open. */
export class GetLedger extends Query<LedgerEntry[]> {
  constructor(
    readonly workspaceId: string,
    readonly livemode = true,
  ) {
    super();
  }
}

/** One page of what was found, and where the next one begins; `null`: there is none. */
export interface FoundPage<T> {
  readonly found: readonly T[];
  readonly next: string | null;
}

/** Credits of a live book, by its view. */
export interface LowBalance {
  readonly workspaceId: string;
  readonly available: number;
  /** What the book had after its last grant: available and held. */
  readonly toppedUpTo: number;
  readonly toppedUpBy: string;
}

/**
 * Live books with fewer available credits than `percent` of what they had after their last grant. A book without a grant
 * since the view knows of this is not found.
 */
export class FindLowBalances extends Query<FoundPage<LowBalance>> {
  constructor(
    readonly percent: number,
    /** `next` of the page before; empty: from the first. */
    readonly after: string,
  ) {
    super();
  }
}

/** Credits that expire if nothing uses them. */
export interface ExpiringGrant {
  readonly workspaceId: string;
  readonly grantId: string;
  readonly remaining: number;
  /** RFC 3339. */
  readonly expiresAt: string;
}

/** Grants of live books with credits left that expire after `from` and until `until` (RFC 3339). */
export class FindExpiringGrants extends Query<FoundPage<ExpiringGrant>> {
  constructor(
    readonly from: string,
    readonly until: string,
    /** `next` of the page before; empty: from the first. */
    readonly after: string,
  ) {
    super();
  }
}

/**
 * The value of credits over some time, in whole cents. opening + sales − earned − breakage − corrections − refunds = closing.
 *
 * A credit has the value of its grant: the price of the plan or pack over its credits. An entry that reverses another one
 * moves value back to where it was. Other corrections upward are gifts without value.
 */
export interface Money {
  readonly currency: string;
  /** Deferred at the start: the value of credits sold before and not yet used. */
  readonly opening: number;
  readonly sales: number;
  /** Value of the credits that completed readings captured, less that of refunded readings. May be negative. */
  readonly earned: number;
  /** Value of the credits that expired, less that of reversed expiries. May be negative. */
  readonly breakage: number;
  /** Value of the credits that were withdrawn without money back, less what came back of it. May be negative. */
  readonly corrections: number;
  /** To be paid back for plans and packs, less what undone refunds brought back. May be negative. */
  readonly refunds: number;
  readonly closing: number;
}

export const MONEY_FIGURES = [
  'opening',
  'sales',
  'earned',
  'breakage',
  'corrections',
  'refunds',
  'closing',
] as const;
