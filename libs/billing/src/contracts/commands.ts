import { Command } from '#platform/cqrs/message.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
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
