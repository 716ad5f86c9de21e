import { z } from 'zod';
import { event, eventCatalogue, type EventOf } from '#event-sourcing/core/event-catalogue.js';
import { PAPERS } from '#workspaces/contracts/index.js';

export const DOCUMENT_FORMATS = ['document_v1', 'markdown', 'pdf'] as const;
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number];

/**
 * Stream `publication-<readingId>`: the published documents of one reading. `livemode` is false for those of a test
 * reading.
 */
export const publicationEvents = eventCatalogue('publication', {
  /**
   * `publishedAt` and `paper` are fixed here, so that every retry and every later remake renders the same bytes.
   */
  PublicationRequested: event(
    1,
    z.strictObject({
      workspaceId: z.string(),
      livemode: z.boolean(),
      version: z.int(),
      artifactId: z.string(),
      publishedAt: z.string(),
      paper: z.enum(PAPERS),
    }),
  ),
  DocumentPublished: event(
    1,
    z.strictObject({
      workspaceId: z.string(),
      livemode: z.boolean(),
      version: z.int(),
      artifactId: z.string(),
      /**
       * What `/document` serves: its digest under the reading's own key (hex), which reveals nothing once the key is
       * destroyed, and its size in bytes, padded.
       */
      formats: z.array(
        z.strictObject({
          format: z.enum(DOCUMENT_FORMATS),
          mediaType: z.string(),
          digest: z.string(),
          bytes: z.int(),
        }),
      ),
      publishedAt: z.string(),
      /** Version of the texts that it was made from. */
      contentVersion: z.string(),
    }),
  ),
  PublicationFailed: event(
    1,
    z.strictObject({ workspaceId: z.string(), version: z.int(), code: z.string() }),
  ),
  /** Nothing of the reading is published from now on: it is about to be erased. */
  PublicationWithdrawn: event(1, z.strictObject({ workspaceId: z.string() })),
});

export type PublicationEvent = EventOf<typeof publicationEvents>;
