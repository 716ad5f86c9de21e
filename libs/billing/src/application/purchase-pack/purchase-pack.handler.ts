import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { PurchasePack, type PurchaseResult } from '../../contracts/commands.js';
import { available } from '../../domain/credits/credits.state.js';
import { CreditBooks } from '../credit-books.js';
import { OrderLines } from './order-lines.js';

/** Claims the order line, then grants the pack. A crash in between leaves a claim, and the repeated command the pack. */
@CommandHandler(PurchasePack)
export class PurchasePackHandler implements ICommandHandler<PurchasePack> {
  constructor(
    private readonly books: CreditBooks,
    private readonly lines: OrderLines,
  ) {}

  async execute({ workspaceId, pack, orderRef, by }: PurchasePack): Promise<PurchaseResult> {
    const order = orderRef.trim();
    if (!(await this.books.current(workspaceId))) return { outcome: 'book_not_open' };
    const claimed = await this.lines.claim(workspaceId, order, pack, by);
    if ('workspaceId' in claimed) return { outcome: 'other_workspace', workspaceId: claimed.workspaceId };
    const { grantId } = claimed;
    const outcome = await this.books.execute(
      workspaceId,
      (now) => ({ type: 'PurchasePack', pack, orderRef: order, grantId, now }),
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
