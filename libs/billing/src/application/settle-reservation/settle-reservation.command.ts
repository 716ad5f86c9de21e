import { Command } from '@app/platform/cqrs/message.js';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';

/** `unknown`: no such hold is open, and none was settled recently. */
export type SettleResult = { readonly outcome: 'settled' | 'already_settled' | 'unknown' };

/** Ends a hold: `capture` consumes its credits, `release` returns them. Only the first settlement of a hold counts. */
export class SettleReservation extends Command<SettleResult> {
  constructor(
    readonly workspaceId: string,
    readonly reservationId: string,
    readonly settlement: 'capture' | 'release',
    /** Id of the reading's event that causes the settlement. */
    readonly causeEventId: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}
