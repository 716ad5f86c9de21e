import { Command } from '@app/platform/cqrs/message.js';
import type { z } from 'zod';
import type { EventCatalogue, EventDefinition } from '@app/event-sourcing/core/event-catalogue.js';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';

/**
 * Closes the publications of a reading for ever: from then on none is requested or recorded. Documents published before
 * stay. A reading sends it before it records its erasure, so that nothing is published afterwards.
 * The module that publishes documents answers it.
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
  /** 1, 2, …; the newest counts. */
  readonly version: number;
  readonly artifactId: string;
  /** RFC 3339 UTC. */
  readonly publishedAt: string;
}

/**
 * The events from which a reading learns of its documents. The id of their stream is the reading's. Their data may hold
 * more than a reading needs.
 */
export type PublicationFeed = EventCatalogue<{
  readonly DocumentPublished: EventDefinition<z.ZodType<PublishedDocument>>;
}>;

/** What readings must know of the module that publishes their documents. The program passes it in. */
export interface DocumentPublisher {
  /** Version of the prose (`<year>.<month>.<counter>`), stored with each result. */
  readonly contentVersion: string;
  /** What `/document` offers, in the order in which a result lists it. */
  readonly formats: readonly string[];
  readonly feed: PublicationFeed;
}

export const DOCUMENT_PUBLISHER = Symbol('DocumentPublisher');
