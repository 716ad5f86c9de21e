import type { z } from 'zod';
import type { EventCatalogue, EventDefinition } from '#event-sourcing/core/event-catalogue.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { Command, Query } from '#platform/cqrs/message.js';

/** What callers and operators read while the ledger cannot be: spending stops until an operator has decided. */
export const BOOK_UNREADABLE =
  'The credit book of the workspace has an entry that cannot be read. Nothing was reserved or charged. The operator of the service finds the entry with ops doctor.';

/**
 * `amounts`: the open reservations that were asked for, with their credits. `settled`: those that were captured or
 * released before. The others got no credits.
 */
export type ReserveResult =
  | {
      readonly outcome: 'reserved';
      readonly amounts: ReadonlyMap<string, number>;
      readonly settled: ReadonlySet<string>;
    }
  | { readonly outcome: 'insufficient'; readonly required: number; readonly available: number }
  /** The product has no price, or the workspace has no readable ledger. */
  | { readonly outcome: 'misconfigured'; readonly reason: string };

/** In the order in which credits go to them; `all`: all of them or none. */
interface AskedReservations {
  readonly reservations: readonly { readonly reservationId: string; readonly readingId: string }[];
  readonly all: boolean;
}

/**
 * Holds the price of a product for each of these readings, in one append to the live book of the workspace or to its test
 * book. Repeating the command holds nothing more for reservations that exist.
 * Handled by the ledger module. @throws StoreUnavailable when the ledger cannot be reached
 */
export class ReserveCredits extends Command<ReserveResult> {
  constructor(
    readonly workspaceId: string,
    readonly asked: AskedReservations,
    readonly productId: string,
    readonly livemode: boolean,
    readonly by: RequestContext,
  ) {
    super();
  }
}

/**
 * Ids of the open reservations of a workspace, folded from the streams of its live and its test book. A missing
 * reservation was settled or never made. `null` while one of the books has an entry that cannot be read.
 * Handled by the ledger module.
 */
export class GetOpenHolds extends Query<readonly string[] | null> {
  constructor(readonly workspaceId: string) {
    super();
  }
}

/**
 * Permanently closes the publications of a reading: none is requested or recorded afterwards. Earlier documents stay.
 * Sent before a reading records its erasure, so that nothing is published afterwards.
 * Handled by the publishing module.
 */
export class WithdrawPublication extends Command<void> {
  constructor(
    readonly readingId: string,
    readonly workspaceId: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}

/** A version of a reading's documents that can be fetched. */
export interface PublishedDocument {
  /** 1, 2, …; the newest is current. */
  readonly version: number;
  readonly artifactId: string;
  /** RFC 3339 UTC. */
  readonly publishedAt: string;
}

/**
 * The events that report a reading's documents. Their stream has the same id as the reading. Their data may hold more
 * than a reading needs.
 */
export type PublicationFeed = EventCatalogue<{
  readonly DocumentPublished: EventDefinition<z.ZodType<PublishedDocument>>;
}>;

/** What readings must know about the publishing module. The application passes it in. */
export interface DocumentPublisher {
  /** Version of the prose (`<year>.<month>.<counter>`), stored with each result. */
  readonly contentVersion: string;
  /** What `/document` offers, in the order used in a result. */
  readonly formats: readonly string[];
  readonly feed: PublicationFeed;
}

export const DOCUMENT_PUBLISHER = Symbol('DocumentPublisher');
