import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CorruptEvent } from '#event-sourcing/core/event-catalogue.js';
import { BOOK_UNREADABLE, ReserveMany, type ReserveManyResult } from '#readings/contracts/index.js';
import { PRODUCT_PRICES } from '../../contracts/catalogue.js';
import { holdOf, isSettled, type Credits } from '../../domain/credits/credits.state.js';
import { CreditBooks, type CreditsOutcome } from '../credit-books.js';
import { TestBooks } from '../test-books.js';

@CommandHandler(ReserveMany)
export class ReserveManyHandler implements ICommandHandler<ReserveMany> {
  constructor(
    private readonly books: CreditBooks,
    private readonly testBooks: TestBooks,
  ) {}

  async execute(command: ReserveMany): Promise<ReserveManyResult> {
    const amount = PRODUCT_PRICES.get(command.productId);
    if (amount === undefined) return misconfigured(`product ${command.productId} has no price`);
    try {
      return await this.reserve(command, amount);
    } catch (error) {
      if (error instanceof CorruptEvent) return misconfigured(BOOK_UNREADABLE);
      throw error;
    }
  }

  private async reserve(
    { workspaceId, livemode, batch, by }: ReserveMany,
    amount: number,
  ): Promise<ReserveManyResult> {
    const outcome = await (livemode ? this.books : this.testBooks).execute(
      workspaceId,
      (now) => ({ type: 'ReserveMany', ...batch, amount, now }),
      intentOf(by.correlationId),
      by,
    );
    return outcome.kind === 'rejected' ? refusal(outcome) : held(batch.reservations, outcome.state);
  }
}

/** A later request of the same batch may reserve for others of it. */
const intentOf = (correlationId: string): string => `reserve-many:${correlationId}`;

const refusal = (outcome: Extract<CreditsOutcome, { readonly kind: 'rejected' }>): ReserveManyResult => {
  if (outcome.code === 'InsufficientCredits') return { outcome: 'insufficient', ...outcome.details };
  return misconfigured(
    outcome.code === 'BookNotOpen' ? 'the workspace has no credit book' : 'the batch is too large',
  );
};

const held = (reservations: ReserveMany['batch']['reservations'], book: Credits): ReserveManyResult => {
  const ids = reservations.map(({ reservationId }) => reservationId);
  return {
    outcome: 'reserved',
    settled: new Set(ids.filter((id) => isSettled(book, id))),
    amounts: new Map(
      ids.flatMap((id) => {
        const open = holdOf(book, id);
        return open ? [[id, open.amount] as const] : [];
      }),
    ),
  };
};

const misconfigured = (reason: string): ReserveManyResult => ({ outcome: 'misconfigured', reason });
