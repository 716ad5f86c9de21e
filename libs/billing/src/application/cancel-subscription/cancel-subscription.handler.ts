import { CommandHandler, type ICommandHandler } from '@app/platform/cqrs/handler.js';
import { CancelSubscription, type CancelResult } from '../../contracts/commands.js';
import { CreditBooks } from '../credit-books.js';

@CommandHandler(CancelSubscription)
export class CancelSubscriptionHandler implements ICommandHandler<CancelSubscription> {
  constructor(private readonly books: CreditBooks) {}

  async execute({ workspaceId, by }: CancelSubscription): Promise<CancelResult> {
    const outcome = await this.books.execute(
      workspaceId,
      (now) => ({ type: 'CancelSubscription', now }),
      `cancel:${by.causationId}`,
      by,
    );
    if (outcome.kind === 'rejected') return { outcome: 'book_not_open' };
    return { outcome: outcome.kind === 'accepted' ? 'cancelled' : 'not_subscribed' };
  }
}
