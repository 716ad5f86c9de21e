import { z } from 'zod';
import { event, eventCatalogue, type EventOf } from '@app/event-sourcing/core/event-catalogue.js';

export const DOCUMENT_FORMATS = ['document_v1', 'markdown', 'pdf'] as const;
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number];

/** Stream `publication-<readingId>`: the published documents of one reading. */
export const publicationEvents = eventCatalogue('publication', {
  /** `publishedAt` is fixed here, so that every retry renders the same bytes. */
  PublicationRequested: event(
    1,
    z.strictObject({
      workspaceId: z.string(),
      version: z.int(),
      artifactId: z.string(),
      publishedAt: z.string(),
    }),
  ),
  DocumentPublished: event(
    1,
    z.strictObject({
      workspaceId: z.string(),
      version: z.int(),
      artifactId: z.string(),
      /** Of each format: media type, lowercase hex SHA-256 and size in bytes of what `/document` answers. */
      formats: z.array(
        z.strictObject({
          format: z.enum(DOCUMENT_FORMATS),
          mediaType: z.string(),
          sha256: z.string(),
          bytes: z.int(),
        }),
      ),
      publishedAt: z.string(),
    }),
  ),
  PublicationFailed: event(
    1,
    z.strictObject({ workspaceId: z.string(), version: z.int(), code: z.string() }),
  ),
});

export type PublicationEvent = EventOf<typeof publicationEvents>;
