import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CancelSubscription } from '../../contracts/commands.js';
import { BookNotOpen } from '../../contracts/errors.js';
import { CreditBooks } from '../credit-books.js';

@CommandHandler(CancelSubscription)
export class CancelSubscriptionHandler implements ICommandHandler<CancelSubscription> {
  constructor(private readonly books: CreditBooks) {}

  async execute({
    workspaceId,
    by,
  }: CancelSubscription): Promise<{ outcome: 'cancelled' | 'not_subscribed' }> {
    const outcome = await this.books.execute(
      workspaceId,
      (now) => ({ type: 'CancelSubscription', now }),
      `cancel:${by.causationId}`,
      by,
    );
    if (outcome.kind === 'rejected') throw new BookNotOpen(workspaceId);
    return { outcome: outcome.kind === 'accepted' ? 'cancelled' : 'not_subscribed' };
  }
}
