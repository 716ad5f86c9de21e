import { Command, Query } from '@app/platform/cqrs/message.js';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';

export type ReserveResult =
  | { readonly outcome: 'reserved'; readonly amount: number }
  | { readonly outcome: 'insufficient'; readonly required: number; readonly available: number }
  /** The product has no price, or the workspace no ledger that can be read. */
  | { readonly outcome: 'misconfigured'; readonly reason: string }
  /** This reservation was already captured or released. */
  | { readonly outcome: 'settled' };

/**
 * Holds the price of a product for a reading. Asking again with the same reservation id holds nothing more.
 * The module that keeps the ledger answers it. Throws StoreUnavailable when the ledger cannot be reached.
 */
export class ReserveCredits extends Command<ReserveResult> {
  constructor(
    readonly workspaceId: string,
    readonly readingId: string,
    readonly reservationId: string,
    readonly productId: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}

/**
 * Ids of the open reservations of a workspace, folded from the ledger's stream. A reservation that is not among them was
 * settled or never made. The module that keeps the ledger answers it.
 */
export class GetOpenHolds extends Query<readonly string[]> {
  constructor(readonly workspaceId: string) {
    super();
  }
}
