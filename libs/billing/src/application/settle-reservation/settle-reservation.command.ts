import { Command } from '#platform/cqrs/message.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';

/**
 * `unknown`: no such hold is open, nor was one settled lately. `book_not_open`: the workspace has no credit book yet.
 */
export type SettleResult = { readonly outcome: 'settled' | 'already_settled' | 'unknown' | 'book_not_open' };

/**
 * Ends a hold of the live or of the test book: `capture` consumes its credits, `release` returns them. Only the first
 * settlement of a hold counts.
 */
export class SettleReservation extends Command<SettleResult> {
  constructor(
    readonly workspaceId: string,
    readonly reservationId: string,
    readonly livemode: boolean,
    readonly settlement: 'capture' | 'release',
    /** Id of the reading's event that causes the settlement. */
    readonly causeEventId: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}
