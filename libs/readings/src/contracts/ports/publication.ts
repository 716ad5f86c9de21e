import { Command } from '#platform/cqrs/message.js';
import type { z } from 'zod';
import type { EventCatalogue, EventDefinition } from '#event-sourcing/core/event-catalogue.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';

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
