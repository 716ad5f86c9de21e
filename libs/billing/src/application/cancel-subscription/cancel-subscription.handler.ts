import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CancelSubscription, type CancelResult } from '../../contracts/commands.js';
import { CreditBooks } from '../credit-books.js';

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
