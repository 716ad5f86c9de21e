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

export type SubscribeResult =
  | { readonly outcome: 'subscribed' | 'already_subscribed'; readonly available: number }
  | { readonly outcome: 'approval_required' };

/**
 * Starts a subscription and grants its first month. If the workspace has a subscription, changes its plan from the next
 * grant on. @throws BookNotOpen
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

/** Ends monthly grants. Credits already granted stay until they expire. @throws BookNotOpen */
export class CancelSubscription extends Command<{ readonly outcome: 'cancelled' | 'not_subscribed' }> {
  constructor(
    readonly workspaceId: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}

export interface PurchaseResult {
  readonly outcome: 'purchased' | 'already_purchased';
  readonly available: number;
}

/** Adds a pack, once per order reference. @throws BookNotOpen */
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

export interface AdjustResult {
  readonly outcome: 'adjusted' | 'already_adjusted' | 'insufficient';
  readonly available: number;
}

/**
 * Corrects a book by a signed whole number of credits, once per adjustment id.
 * @throws BookNotOpen
 * @throws TypeError when the amount is zero or not whole, or the reason or approver is empty
 */
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
