import { CommandHandler, type ICommandHandler } from '@app/platform/cqrs/handler.js';
import { SubscribeToPlan, type SubscribeResult } from '../../contracts/commands.js';
import { available } from '../../domain/credits/credits.state.js';
import { CreditBooks } from '../credit-books.js';

@CommandHandler(SubscribeToPlan)
export class SubscribeToPlanHandler implements ICommandHandler<SubscribeToPlan> {
  constructor(private readonly books: CreditBooks) {}

  async execute({ workspaceId, plan, approvalRef, by }: SubscribeToPlan): Promise<SubscribeResult> {
    const outcome = await this.books.execute(
      workspaceId,
      (now) => ({ type: 'SubscribeToPlan', plan, approvalRef, now }),
      `subscribe:${plan}:${by.causationId}`,
      by,
    );
    if (outcome.kind === 'rejected') {
      return { outcome: outcome.code === 'ApprovalRequired' ? 'approval_required' : 'book_not_open' };
    }
    return {
      outcome: outcome.kind === 'accepted' ? 'subscribed' : 'already_subscribed',
      available: available(outcome.state),
    };
  }
}
