import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { SubscribeToPlan, type SubscribeResult } from '../../contracts/commands.js';
import { available } from '../../domain/credits/credits.state.js';
import { CreditBooks, type CreditsOutcome } from '../credit-books.js';
import { subscriptionSummary } from '../get-subscription/subscription-summary.js';

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
