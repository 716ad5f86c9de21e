import { CommandHandler, type ICommandHandler, QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import { Inject } from '@nestjs/common';
import type { Clock } from '#event-sourcing/core/clock.js';
import { CLOCK } from '#platform/tokens.js';
import {
  SubscribeToPlan,
  type SubscribeResult,
  CancelSubscription,
  type CancelResult,
  type SubscriptionSummary,
} from '../contracts/commands.js';
import { available } from '../domain/credits.state.js';
import { CreditBooks, type CreditsOutcome } from './credit-books.js';
import { GetSubscription } from '../contracts/queries.js';
import { currentSubscription } from '../domain/credits.decider.js';
import type { Subscription } from '../contracts/events.js';

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
