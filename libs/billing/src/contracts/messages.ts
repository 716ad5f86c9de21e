import { Command, Query } from '#platform/cqrs/message.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import type { PackId, PlanId } from './catalogue.js';
import type { Account } from './events.js';

/** Opens the credit book of a workspace. Does nothing when it is already open. */
export class OpenBook extends Command<void> {
  constructor(
    readonly workspaceId: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}

/** The workspace has no credit book: nothing was recorded. */
export interface BookNotOpen {
  readonly outcome: 'book_not_open';
}

/** `period_end`: with the next monthly grant. */
export type Effective = 'period_end' | 'now';

/** A subscription as it stands. Instants are RFC 3339. */
export interface SubscriptionSummary {
  readonly subscriptionId: string;
  readonly plan: PlanId;
  /** When the present month ends: then comes the next grant, unless `endsAt` says otherwise. */
  readonly nextGrantAt: string;
  /** The plan from `nextGrantAt` on, when it changes. */
  readonly nextPlan: PlanId | null;
  /** Cancelled: the last month ends here. */
  readonly endsAt: string | null;
}

/**
 * `subscribed`: it started or changed. `effectiveAt`: from when on the plan counts; `null`: it counts already. `approval_required`: the plan needs an
 * approval reference. `available` counts credits.
 */
export type SubscribeResult =
  | {
      readonly outcome: 'subscribed' | 'already_subscribed';
      readonly available: number;
      readonly effectiveAt: string | null;
      readonly subscription: SubscriptionSummary;
    }
  | { readonly outcome: 'approval_required' | 'not_subscribed' }
  | BookNotOpen;

/**
 * Starts a subscription and grants its first month. On a subscribed workspace it changes the plan, and withdraws a
 * cancellation that has not taken effect.
 */
export class SubscribeToPlan extends Command<SubscribeResult> {
  constructor(
    readonly workspaceId: string,
    readonly plan: PlanId,
    readonly approvalRef: string | null,
    readonly by: RequestContext,
    /** Of a change. `now`: the present subscription ends, and another one grants its first month at once. */
    readonly when: Effective = 'period_end',
    /** Do not start a first subscription. */
    readonly onlyChange = false,
  ) {
    super();
  }
}

/** `effectiveAt`: when the subscription ends (RFC 3339). */
export type CancelResult =
  | { readonly outcome: 'cancelled' | 'already_cancelled'; readonly effectiveAt: string }
  | { readonly outcome: 'not_subscribed' }
  | BookNotOpen;

/** Ends monthly grants. Credits already granted stay until they expire. */
export class CancelSubscription extends Command<CancelResult> {
  constructor(
    readonly workspaceId: string,
    readonly by: RequestContext,
    readonly when: Effective = 'period_end',
    /** The operator's, such as TICKET-9. Recorded in the entry. */
    readonly reference: string | null = null,
  ) {
    super();
  }
}

/** `other_workspace`: that workspace has the order line. `available` counts credits. */
export type PurchaseResult =
  | { readonly outcome: 'purchased' | 'already_purchased'; readonly available: number }
  | { readonly outcome: 'other_workspace'; readonly workspaceId: string }
  | BookNotOpen;

/** Adds a pack, once per order and pack in the whole installation. */
export class PurchasePack extends Command<PurchaseResult> {
  constructor(
    readonly workspaceId: string,
    readonly pack: PackId,
    readonly orderRef: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}

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

/** A revision, or an instant in milliseconds. */
export type AsOf = { readonly revision: bigint } | { readonly instant: number };

/**
 * Folded from the stream: after a revision, at an instant, or now. Credits expired by then count as expired, recorded or
 * not. `null` when the book was not open then. A test book is now as the next reservation would find it.
 */
export class GetBalance extends Query<Balance | null> {
  constructor(
    readonly workspaceId: string,
    readonly livemode = true,
    readonly asOf?: AsOf,
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
