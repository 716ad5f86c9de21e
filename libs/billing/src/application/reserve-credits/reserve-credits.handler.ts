import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CorruptEvent } from '#event-sourcing/core/event-catalogue.js';
import { BOOK_UNREADABLE, ReserveCredits, type ReserveResult } from '#readings/contracts/index.js';
import { PRODUCT_PRICES } from '../../contracts/catalogue.js';
import { holdOf } from '../../domain/credits/credits.state.js';
import { CreditBooks, type CreditsOutcome } from '../credit-books.js';
import { TestBooks } from '../test-books.js';

@CommandHandler(ReserveCredits)
export class ReserveCreditsHandler implements ICommandHandler<ReserveCredits> {
  constructor(
    private readonly books: CreditBooks,
    private readonly testBooks: TestBooks,
  ) {}

  async execute(command: ReserveCredits): Promise<ReserveResult> {
    const { reservationId, productId } = command;
    const amount = PRODUCT_PRICES.get(productId);
    if (amount === undefined) return misconfigured(`product ${productId} has no price`);
    let outcome: CreditsOutcome;
    try {
      outcome = await this.reserve(command, amount);
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

  private reserve(
    { workspaceId, readingId, reservationId, livemode, by }: ReserveCredits,
    amount: number,
  ): Promise<CreditsOutcome> {
    return (livemode ? this.books : this.testBooks).execute(
      workspaceId,
      (now) => ({ type: 'ReserveCredits', reservationId, readingId, amount, now }),
      `reserve:${reservationId}`,
      by,
    );
  }
}

const misconfigured = (reason: string): ReserveResult => ({ outcome: 'misconfigured', reason });
