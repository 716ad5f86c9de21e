import { Command } from '@app/platform/cqrs/message.js';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';
import type { PackId, PlanId } from './catalogue.js';

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

/** `approval_required`: the plan needs an approval reference. `available` counts credits. */
export type SubscribeResult =
  | { readonly outcome: 'subscribed' | 'already_subscribed'; readonly available: number }
  | { readonly outcome: 'approval_required' }
  | BookNotOpen;

/**
 * Starts a subscription and grants its first month; on a subscribed workspace it changes the plan from the next grant
 * on.
 */
export class SubscribeToPlan extends Command<SubscribeResult> {
  constructor(
    readonly workspaceId: string,
    readonly plan: PlanId,
    readonly approvalRef: string | null,
    readonly by: RequestContext,
  ) {
    super();
  }
}

export type CancelResult = { readonly outcome: 'cancelled' | 'not_subscribed' } | BookNotOpen;

/** Ends monthly grants. Credits already granted stay until they expire. */
export class CancelSubscription extends Command<CancelResult> {
  constructor(
    readonly workspaceId: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}

/** `available` counts credits. */
export type PurchaseResult =
  { readonly outcome: 'purchased' | 'already_purchased'; readonly available: number } | BookNotOpen;

/** Adds a pack, once per order reference. */
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

/**
 * `insufficient`: fewer credits are available than it takes away. `invalid`: the amount is zero or not whole, or the
 * reason or the approver is empty; `detail` is a sentence without its full stop. `available` counts credits.
 */
export type AdjustResult =
  | { readonly outcome: 'adjusted' | 'already_adjusted' | 'insufficient'; readonly available: number }
  | { readonly outcome: 'invalid'; readonly detail: string }
  | BookNotOpen;

/** Corrects a book by a signed whole number of credits, once per adjustment id. */
export class AdjustCredits extends Command<AdjustResult> {
  constructor(
    readonly workspaceId: string,
    readonly amount: number,
    readonly reason: string,
    readonly approvedBy: string,
    readonly adjustmentId: string,
    readonly by: RequestContext,
    /** The ledger event this entry corrects. */
    readonly reversesEventId: string | null = null,
    /** The operator's reference, such as INC-42. Recorded in the entry. */
    readonly reference: string | null = null,
    /** Of credits that it adds (RFC 3339); default: never. */
    readonly expiresAt: string | null = null,
    /** The grant that it takes credits from; default: in burn order. */
    readonly grantId: string | null = null,
  ) {
    super();
  }
}

/** Records what has become due in a book: expiries, monthly grants, closed months. */
export class RecordDue extends Command<void> {
  constructor(
    readonly workspaceId: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}
