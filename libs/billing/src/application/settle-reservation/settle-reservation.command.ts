import { Command } from '@nestjs/cqrs';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';

/**
 * `unknown`: no such hold is open, nor was one settled lately. `book_not_open`: the workspace has no credit book yet.
 */
export type SettleResult = { readonly outcome: 'settled' | 'already_settled' | 'unknown' | 'book_not_open' };

/** Ends a hold: `capture` consumes its credits, `release` gives them back. Only the first one of a hold counts. */
export class SettleReservation extends Command<SettleResult> {
  constructor(
    readonly workspaceId: string,
    readonly reservationId: string,
    readonly settlement: 'capture' | 'release',
    /** The reading's event that settles it. */
    readonly causeEventId: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}
