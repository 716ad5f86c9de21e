import { CommandHandler, type ICommandHandler } from '@app/platform/cqrs/handler.js';
import { PurchasePack, type PurchaseResult } from '../../contracts/commands.js';
import { available } from '../../domain/credits/credits.state.js';
import { CreditBooks } from '../credit-books.js';

@CommandHandler(PurchasePack)
export class PurchasePackHandler implements ICommandHandler<PurchasePack> {
  constructor(private readonly books: CreditBooks) {}

  async execute({ workspaceId, pack, orderRef, by }: PurchasePack): Promise<PurchaseResult> {
    const outcome = await this.books.execute(
      workspaceId,
      (now) => ({ type: 'PurchasePack', pack, orderRef, now }),
      `pack:${orderRef}`,
      by,
    );
    if (outcome.kind === 'rejected') return { outcome: 'book_not_open' };
    return {
      outcome: outcome.kind === 'accepted' ? 'purchased' : 'already_purchased',
      available: available(outcome.state),
    };
  }
}
