import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CorruptEvent } from '#event-sourcing/core/event-catalogue.js';
import { BOOK_UNREADABLE, ReserveCredits, type ReserveResult } from '#readings/contracts/index.js';
import { LOGGER } from '#platform/tokens.js';
import { Inject, Injectable } from '@nestjs/common';
import type { Logger } from 'pino';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { PRODUCT_PRICES } from '../contracts/catalogue.js';
import { holdOf, isSettled, type Credits } from '../domain/credits.state.js';
import { CreditBooks, TestBooks } from './credit-books.js';

@CommandHandler(ReserveCredits)
export class ReserveCreditsHandler implements ICommandHandler<ReserveCredits> {
  constructor(
    private readonly books: CreditBooks,
    private readonly testBooks: TestBooks,
  ) {}

  async execute({ workspaceId, productId, livemode, asked, by }: ReserveCredits): Promise<ReserveResult> {
    const amount = PRODUCT_PRICES.get(productId);
    if (amount === undefined) return misconfigured(`product ${productId} has no price`);
    const { reservations } = asked;
    const [first, ...others] = reservations;
    // One is the same in any request. A later request of the same batch may reserve for others of it.
    const intent =
      first && others.length === 0 ? `reserve:${first.reservationId}` : `reserve-many:${by.correlationId}`;
    const books = livemode ? this.books : this.testBooks;
    try {
      const outcome = await books.execute(
        workspaceId,
        (now) => ({ type: 'ReserveCredits', ...asked, amount, now }),
        intent,
        by,
      );
      if (outcome.kind !== 'rejected') return held(reservations, outcome.state);
      if (outcome.code === 'InsufficientCredits') return { outcome: 'insufficient', ...outcome.details };
      return misconfigured(
        outcome.code === 'BookNotOpen' ? 'the workspace has no credit book' : 'the batch is too large',
      );
    } catch (error) {
      if (error instanceof CorruptEvent) return misconfigured(BOOK_UNREADABLE);
      throw error;
    }
  }
}

const held = (reservations: ReserveCredits['asked']['reservations'], book: Credits): ReserveResult => {
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

const misconfigured = (reason: string) => ({ outcome: 'misconfigured', reason }) as const;

/** How a hold of the live or of the test book ends: `capture` consumes its credits, `release` returns them. */
export interface Settlement {
  readonly workspaceId: string;
  readonly reservationId: string;
  readonly livemode: boolean;
  readonly settlement: 'capture' | 'release';
  /** Id of the reading's event that causes it. */
  readonly causeEventId: string;
  readonly by: RequestContext;
}

/** Settles holds for the worker. Only the first settlement of a hold counts. */
@Injectable()
export class Settlements {
  constructor(
    private readonly books: CreditBooks,
    private readonly testBooks: TestBooks,
    @Inject(LOGGER) private readonly log: Pick<Logger, 'warn'>,
  ) {}

  /** @throws Error while the book is not open: the consumer then retries the event until it is */
  async settle({ by, ...asked }: Settlement): Promise<void> {
    const { workspaceId, reservationId, livemode, settlement, causeEventId } = asked;
    const type = settlement === 'capture' ? 'CaptureCredits' : 'ReleaseCredits';
    const outcome = await (livemode ? this.books : this.testBooks).execute(
      workspaceId,
      (now) => ({ type, reservationId, causeEventId, now }),
      `${settlement}:${causeEventId}`,
      by,
    );
    if (outcome.kind === 'rejected') throw new Error(`Workspace ${workspaceId} has no credit book yet`);
    if (outcome.kind === 'ignored' && outcome.reason === 'UnknownReservation')
      this.log.warn(asked, 'a reading ended whose reservation is not open');
  }
}
