import { z } from 'zod';
import {
  event,
  eventCatalogue,
  type EventOf,
  type Upcaster,
} from '@app/event-sourcing/core/event-catalogue.js';

export const DOCUMENT_FORMATS = ['document_v1', 'markdown', 'pdf'] as const;
export type DocumentFormat = (typeof DOCUMENT_FORMATS)[number];

/** Upgrades events from before test mode: their readings are live. */
const live: Upcaster = (data) => ({ ...(data as object), livemode: true });

/**
 * Stream `publication-<readingId>`: the published documents of one reading. `livemode` is false for those of a test
 * reading.
 */
export const publicationEvents = eventCatalogue('publication', {
  /** `publishedAt` is fixed here, so that every retry renders the same bytes. */
  PublicationRequested: event(
    2,
    z.strictObject({
      workspaceId: z.string(),
      livemode: z.boolean(),
      version: z.int(),
      artifactId: z.string(),
      publishedAt: z.string(),
    }),
    { 1: live },
  ),
  DocumentPublished: event(
    3,
    z.strictObject({
      workspaceId: z.string(),
      livemode: z.boolean(),
      version: z.int(),
      artifactId: z.string(),
      /**
       * What `/document` serves: its digest under the reading's own key (hex), which reveals nothing once the key is
       * destroyed, and its size in bytes, padded. Version 1 had its SHA-256 and exact size.
       */
      formats: z.array(
        z.strictObject({
          format: z.enum(DOCUMENT_FORMATS),
          mediaType: z.string(),
          digest: z.string().nullable(),
          bytes: z.int().nullable(),
        }),
      ),
      publishedAt: z.string(),
    }),
    {
      1: (data) => {
        const { formats, ...rest } = data as { formats: readonly { format: string; mediaType: string }[] };
        return {
          ...rest,
          formats: formats.map(({ format, mediaType }) => ({ format, mediaType, digest: null, bytes: null })),
        };
      },
      2: live,
    },
  ),
  PublicationFailed: event(
    1,
    z.strictObject({ workspaceId: z.string(), version: z.int(), code: z.string() }),
  ),
  /** Nothing of the reading is published from now on: it is about to be erased. */
  PublicationWithdrawn: event(1, z.strictObject({ workspaceId: z.string() })),
});

export type PublicationEvent = EventOf<typeof publicationEvents>;
