import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CorruptEvent } from '#event-sourcing/core/event-catalogue.js';
import { BOOK_UNREADABLE, ReserveMany, type ReserveManyResult } from '#readings/contracts/index.js';
import { PRODUCT_PRICES } from '../../contracts/catalogue.js';
import { holdOf, isSettled } from '../../domain/credits/credits.state.js';
import * as testBook from '../../domain/test-book/test-book.state.js';
import { CreditBooks, type CreditsOutcome } from '../credit-books.js';
import { TestBooks, type TestBookOutcome } from '../test-books.js';

/** What a book knows of a reservation. */
interface Found {
  readonly hold: (reservationId: string) => { readonly amount: number } | undefined;
  readonly isSettled: (reservationId: string) => boolean;
}

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
      return await (command.livemode ? this.live(command, amount) : this.test(command, amount));
    } catch (error) {
      if (error instanceof CorruptEvent) return misconfigured(BOOK_UNREADABLE);
      throw error;
    }
  }

  private async live({ workspaceId, batch, by }: ReserveMany, amount: number): Promise<ReserveManyResult> {
    const outcome = await this.books.execute(
      workspaceId,
      (now) => ({ type: 'ReserveMany', ...batch, amount, now }),
      intentOf(by.correlationId),
      by,
    );
    if (outcome.kind === 'rejected') return refusal(outcome);
    const { state } = outcome;
    return held(batch.reservations, {
      hold: (id) => holdOf(state, id),
      isSettled: (id) => isSettled(state, id),
    });
  }

  private async test({ workspaceId, batch, by }: ReserveMany, amount: number): Promise<ReserveManyResult> {
    const outcome = await this.testBooks.execute(
      workspaceId,
      (now) => ({ type: 'ReserveMany', ...batch, workspaceId, amount, now }),
      intentOf(by.correlationId),
      by,
    );
    if (outcome.kind === 'rejected') return refusal(outcome);
    const { state } = outcome;
    return held(batch.reservations, {
      hold: (id) => testBook.testHoldOf(state, id),
      isSettled: (id) => testBook.isSettled(state, id),
    });
  }
}

/** A later request of the same batch may reserve for others of it. */
const intentOf = (correlationId: string): string => `reserve-many:${correlationId}`;

const refusal = (
  outcome: Extract<CreditsOutcome | TestBookOutcome, { readonly kind: 'rejected' }>,
): ReserveManyResult => {
  if (outcome.code === 'InsufficientCredits') return { outcome: 'insufficient', ...outcome.details };
  return misconfigured(
    outcome.code === 'BookNotOpen' ? 'the workspace has no credit book' : 'the batch is too large',
  );
};

const held = (
  reservations: ReserveMany['batch']['reservations'],
  { hold, isSettled: isOver }: Found,
): ReserveManyResult => {
  const ids = reservations.map(({ reservationId }) => reservationId);
  return {
    outcome: 'reserved',
    settled: new Set(ids.filter(isOver)),
    amounts: new Map(
      ids.flatMap((id) => {
        const open = hold(id);
        return open ? [[id, open.amount] as const] : [];
      }),
    ),
  };
};

const misconfigured = (reason: string): ReserveManyResult => ({ outcome: 'misconfigured', reason });
