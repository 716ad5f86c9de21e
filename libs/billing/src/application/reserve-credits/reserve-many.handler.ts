import { CorruptEvent } from '@app/event-sourcing/core/event-catalogue.js';
import { CommandHandler, type ICommandHandler } from '@app/platform/cqrs/handler.js';
import { BOOK_UNREADABLE, ReserveMany, type ReserveManyResult } from '@app/readings/contracts/index.js';
import { PRODUCT_PRICES } from '../../contracts/catalogue.js';
import { holdOf, isSettled } from '../../domain/credits/credits.state.js';
import { CreditBooks, type CreditsOutcome } from '../credit-books.js';

@CommandHandler(ReserveMany)
export class ReserveManyHandler implements ICommandHandler<ReserveMany> {
  constructor(private readonly books: CreditBooks) {}

  async execute({ workspaceId, batch, productId, by }: ReserveMany): Promise<ReserveManyResult> {
    const amount = PRODUCT_PRICES.get(productId);
    if (amount === undefined) return misconfigured(`product ${productId} has no price`);
    let outcome: CreditsOutcome;
    try {
      outcome = await this.books.execute(
        workspaceId,
        (now) => ({ type: 'ReserveMany', ...batch, amount, now }),
        // A later request of the same batch may reserve for others of it.
        `reserve-many:${by.correlationId}`,
        by,
      );
    } catch (error) {
      if (error instanceof CorruptEvent) return misconfigured(BOOK_UNREADABLE);
      throw error;
    }
    if (outcome.kind === 'rejected') {
      if (outcome.code === 'InsufficientCredits') return { outcome: 'insufficient', ...outcome.details };
      return misconfigured(
        outcome.code === 'BookNotOpen' ? 'the workspace has no credit book' : 'the batch is too large',
      );
    }
    const { state } = outcome;
    const ids = batch.reservations.map(({ reservationId }) => reservationId);
    return {
      outcome: 'reserved',
      settled: new Set(ids.filter((id) => isSettled(state, id))),
      amounts: new Map(
        ids.flatMap((id) => {
          const hold = holdOf(state, id);
          return hold ? [[id, hold.amount] as const] : [];
        }),
      ),
    };
  }
}

const misconfigured = (reason: string): ReserveManyResult => ({ outcome: 'misconfigured', reason });
