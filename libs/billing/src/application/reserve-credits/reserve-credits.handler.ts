import { CorruptEvent } from '@app/event-sourcing/core/event-catalogue.js';
import { CommandHandler, type ICommandHandler } from '@app/platform/cqrs/handler.js';
import { BOOK_UNREADABLE, ReserveCredits, type ReserveResult } from '@app/readings/contracts/index.js';
import { PRODUCT_PRICES } from '../../contracts/catalogue.js';
import { holdOf } from '../../domain/credits/credits.state.js';
import { CreditBooks, type CreditsOutcome } from '../credit-books.js';

@CommandHandler(ReserveCredits)
export class ReserveCreditsHandler implements ICommandHandler<ReserveCredits> {
  constructor(private readonly books: CreditBooks) {}

  async execute(command: ReserveCredits): Promise<ReserveResult> {
    const { workspaceId, readingId, reservationId, productId, by } = command;
    const amount = PRODUCT_PRICES.get(productId);
    if (amount === undefined) return misconfigured(`product ${productId} has no price`);
    let outcome: CreditsOutcome;
    try {
      outcome = await this.books.execute(
        workspaceId,
        (now) => ({ type: 'ReserveCredits', reservationId, readingId, amount, now }),
        `reserve:${reservationId}`,
        by,
      );
    } catch (error) {
      if (error instanceof CorruptEvent) return misconfigured(BOOK_UNREADABLE);
      throw error;
    }
    if (outcome.kind !== 'rejected') {
      return { outcome: 'reserved', amount: holdOf(outcome.state, reservationId)?.amount ?? amount };
    }
    switch (outcome.code) {
      case 'InsufficientCredits':
        return { outcome: 'insufficient', ...outcome.details };
      case 'ReservationSettled':
        return { outcome: 'settled' };
      case 'BookNotOpen':
      default:
        return misconfigured('the workspace has no credit book');
    }
  }
}

const misconfigured = (reason: string): ReserveResult => ({ outcome: 'misconfigured', reason });
