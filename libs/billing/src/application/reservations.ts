import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import { CorruptEvent } from '#event-sourcing/core/event-catalogue.js';
import {
  BOOK_UNREADABLE,
  ReserveCredits,
  type ReserveResult,
  ReserveMany,
  type ReserveManyResult,
} from '#readings/contracts/index.js';
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

  execute(command: ReserveCredits): Promise<ReserveResult> {
    const { workspaceId, readingId, reservationId, productId, livemode, by } = command;
    return priced(productId, async (amount): Promise<ReserveResult> => {
      const outcome = await (livemode ? this.books : this.testBooks).execute(
        workspaceId,
        (now) => ({ type: 'ReserveCredits', reservationId, readingId, amount, now }),
        `reserve:${reservationId}`,
        by,
      );
      if (outcome.kind !== 'rejected')
        return { outcome: 'reserved', amount: holdOf(outcome.state, reservationId)?.amount ?? amount };
      if (outcome.code === 'InsufficientCredits') return { outcome: 'insufficient', ...outcome.details };
      if (outcome.code === 'ReservationSettled') return { outcome: 'settled' };
      return misconfigured('the workspace has no credit book');
    });
  }
}

/** Reserves for the price of a product. Without one, or in a book that cannot be read, nobody can. */
const priced = async <T>(
  productId: string,
  reserve: (amount: number) => Promise<T>,
): Promise<T | ReturnType<typeof misconfigured>> => {
  const amount = PRODUCT_PRICES.get(productId);
  if (amount === undefined) return misconfigured(`product ${productId} has no price`);
  try {
    return await reserve(amount);
  } catch (error) {
    if (error instanceof CorruptEvent) return misconfigured(BOOK_UNREADABLE);
    throw error;
  }
};

@CommandHandler(ReserveMany)
export class ReserveManyHandler implements ICommandHandler<ReserveMany> {
  constructor(
    private readonly books: CreditBooks,
    private readonly testBooks: TestBooks,
  ) {}

  execute({ workspaceId, productId, livemode, batch, by }: ReserveMany): Promise<ReserveManyResult> {
    return priced(productId, async (amount): Promise<ReserveManyResult> => {
      const outcome = await (livemode ? this.books : this.testBooks).execute(
        workspaceId,
        (now) => ({ type: 'ReserveMany', ...batch, amount, now }),
        // A later request of the same batch may reserve for others of it.
        `reserve-many:${by.correlationId}`,
        by,
      );
      if (outcome.kind !== 'rejected') return held(batch.reservations, outcome.state);
      if (outcome.code === 'InsufficientCredits') return { outcome: 'insufficient', ...outcome.details };
      return misconfigured(
        outcome.code === 'BookNotOpen' ? 'the workspace has no credit book' : 'the batch is too large',
      );
    });
  }
}

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

export const reservationHandlers = [ReserveCreditsHandler, ReserveManyHandler];
