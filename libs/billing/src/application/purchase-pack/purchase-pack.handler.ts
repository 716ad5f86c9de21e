import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { PurchasePack, type PurchaseResult } from '../../contracts/commands.js';
import { packGrantId } from '../../domain/credits/credits.decider.js';
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
    const owner = await this.lines.claim(workspaceId, order, pack, by);
    if (owner !== workspaceId) return { outcome: 'other_workspace', workspaceId: owner };
    const outcome = await this.books.execute(
      workspaceId,
      (now) => ({ type: 'PurchasePack', pack, orderRef: order, now }),
      packGrantId(order, pack),
      by,
    );
    if (outcome.kind === 'rejected') return { outcome: 'book_not_open' };
    return {
      outcome: outcome.kind === 'accepted' ? 'purchased' : 'already_purchased',
      available: available(outcome.state),
    };
  }
}
