import { CommandHandler, type ICommandHandler, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { Inject } from '@nestjs/common';
import type { Clock, TrustedClock } from '#event-sourcing/core/clock.js';
import { CLOCK, TRUSTED_CLOCK } from '#platform/tokens.js';
import {
  SubscribeToPlan,
  type SubscribeResult,
  CancelSubscription,
  type CancelResult,
  type SubscriptionSummary,
  PurchasePack,
  type PurchaseResult,
  GetSubscription,
} from '../contracts/messages.js';
import { available } from '../domain/credits.state.js';
import { CreditBooks, type CreditsOutcome } from './credit-books.js';
import { currentSubscription, packGrantId } from '../domain/credits.decider.js';
import type { Subscription } from '../contracts/events.js';
import { uuid5 } from '#event-sourcing/core/event-id.js';
import { CORRECTION_EXECUTORS, type CorrectionExecutors } from '../executors.js';

@CommandHandler(SubscribeToPlan)
export class SubscribeToPlanHandler implements ICommandHandler<SubscribeToPlan> {
  constructor(private readonly books: CreditBooks) {}

  async execute(command: SubscribeToPlan): Promise<SubscribeResult> {
    const { workspaceId, plan, approvalRef, by, when, onlyChange } = command;
    const outcome = await this.books.execute(
      workspaceId,
      (now) => ({ type: 'SubscribeToPlan', plan, approvalRef, when, onlyChange, now }),
      `subscribe:${plan}:${by.causationId}`,
      by,
    );
    if (outcome.kind === 'rejected') {
      if (outcome.code === 'ApprovalRequired') return { outcome: 'approval_required' };
      return { outcome: outcome.code === 'NotSubscribed' ? 'not_subscribed' : 'book_not_open' };
    }
    return {
      outcome: outcome.kind === 'accepted' ? 'subscribed' : 'already_subscribed',
      available: available(outcome.state),
      effectiveAt: effectiveAt(outcome),
      subscription: subscriptionSummary(outcome.state.subscription!),
    };
  }
}

const effectiveAt = (outcome: Exclude<CreditsOutcome, { kind: 'rejected' }>): string | null => {
  for (const { type, data } of outcome.kind === 'accepted' ? outcome.events : []) {
    if (type === 'SubscriptionStarted') return data.startedAt;
    if (type === 'SubscriptionChanged') return data.effectiveAt;
  }
  const { nextPlan, nextGrantAt } = outcome.state.subscription!;
  return nextPlan === undefined ? null : nextGrantAt;
};

@CommandHandler(CancelSubscription)
export class CancelSubscriptionHandler implements ICommandHandler<CancelSubscription> {
  constructor(private readonly books: CreditBooks) {}

  async execute({ workspaceId, by, when, reference }: CancelSubscription): Promise<CancelResult> {
    const outcome = await this.books.execute(
      workspaceId,
      (now) => ({ type: 'CancelSubscription', when, reference, now }),
      `cancel:${by.causationId}`,
      by,
    );
    if (outcome.kind === 'rejected') return { outcome: 'book_not_open' };
    if (outcome.kind === 'ignored') {
      const endsAt = outcome.state.subscription?.endsAt;
      return outcome.reason === 'AlreadyCancelled' && endsAt !== undefined
        ? { outcome: 'already_cancelled', effectiveAt: endsAt }
        : { outcome: 'not_subscribed' };
    }
    const cancelled = outcome.events.findLast(({ type }) => type === 'SubscriptionCancelled');
    return {
      outcome: 'cancelled',
      effectiveAt: (cancelled as { data: { effectiveAt: string } }).data.effectiveAt,
    };
  }
}

@QueryHandler(GetSubscription)
export class GetSubscriptionHandler implements IQueryHandler<GetSubscription> {
  constructor(
    private readonly books: CreditBooks,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ workspaceId }: GetSubscription): Promise<SubscriptionSummary | null> {
    const book = await this.books.current(workspaceId);
    const current = book && currentSubscription(book, this.clock.now());
    return current && subscriptionSummary(current);
  }
}

export const subscriptionSummary = (subscription: Subscription): SubscriptionSummary => {
  const { subscriptionId, plan, nextGrantAt, nextPlan, endsAt } = subscription;
  return { subscriptionId, plan, nextGrantAt, nextPlan: nextPlan ?? null, endsAt: endsAt ?? null };
};

export const subscriptionHandlers = [
  SubscribeToPlanHandler,
  CancelSubscriptionHandler,
  GetSubscriptionHandler,
];

/** Claims the order line, then grants the pack. A crash in between leaves a claim, and the repeated command the pack. */
@CommandHandler(PurchasePack)
export class PurchasePackHandler implements ICommandHandler<PurchasePack> {
  constructor(
    private readonly books: CreditBooks,
    @Inject(CORRECTION_EXECUTORS) private readonly executors: CorrectionExecutors,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
  ) {}

  async execute({ workspaceId, pack, orderRef: given, by }: PurchasePack): Promise<PurchaseResult> {
    const orderRef = given.trim();
    const grantId = packGrantId(orderRef, pack);
    if (!(await this.books.current(workspaceId))) return { outcome: 'book_not_open' };
    const claim = await this.executors.orderLine.execute(
      uuid5('order line', orderRef, pack),
      { type: 'OrderLineClaimed', data: { orderRef, pack, workspaceId, grantId } },
      { intent: `claim:${workspaceId}`, by, workspaceId, at: await this.clock.now() },
    );
    const owner = claim.state!.workspaceId;
    if (owner !== workspaceId) return { outcome: 'other_workspace', workspaceId: owner };
    const outcome = await this.books.execute(
      workspaceId,
      (now) => ({ type: 'PurchasePack', pack, orderRef, now }),
      grantId,
      by,
    );
    if (outcome.kind === 'rejected') return { outcome: 'book_not_open' };
    return {
      outcome: outcome.kind === 'accepted' ? 'purchased' : 'already_purchased',
      available: available(outcome.state),
    };
  }
}
