import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { SubscribeToPlan, type SubscribeResult } from '../../contracts/commands.js';
import { BookNotOpen } from '../../contracts/errors.js';
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
      if (outcome.code === 'ApprovalRequired') return { outcome: 'approval_required' };
      throw new BookNotOpen(workspaceId);
    }
    return {
      outcome: outcome.kind === 'accepted' ? 'subscribed' : 'already_subscribed',
      available: available(outcome.state),
    };
  }
}
