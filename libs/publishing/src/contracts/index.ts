import { z } from 'zod';
import { event, eventCatalogue, type EventOf, selectEvents } from '#event-sourcing/core/event-catalogue.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { Command } from '#platform/cqrs/message.js';
import type { DocumentPublisher } from '#readings/contracts/index.js';
import { PAPERS } from '#workspaces/contracts/index.js';
import { CONTENT_VERSION } from './content-version.js';

export * from './content-version.js';

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

/** The port through which readings uses publishing. */
export const documentPublisher: DocumentPublisher = {
  contentVersion: CONTENT_VERSION,
  formats: DOCUMENT_FORMATS,
  feed: selectEvents(publicationEvents, 'DocumentPublished'),
};

export type RepublishResult =
  /**
   * `requested`: the version will be made. `under_way`: it already is. `unchanged`: the newest version is from the
   * current texts, and `onlyIfTextsChanged` was asked.
   */
  | { readonly outcome: 'requested' | 'under_way' | 'unchanged'; readonly version: number }
  /** `erased`: the publication was withdrawn, or the key of the reading is gone. */
  | { readonly outcome: 'erased' }
  | { readonly outcome: 'too_many_versions'; readonly most: number };

/**
 * Has the next version of a reading's document made from its stored result and the current texts. The reading must be
 * completed: the sender checks that.
 */
export class RepublishDocument extends Command<RepublishResult> {
  constructor(
    readonly readingId: string,
    readonly workspaceId: string,
    readonly options: { readonly onlyIfTextsChanged: boolean },
    readonly by: RequestContext,
  ) {
    super();
  }
}

const REMAKE_OUTCOMES = ['remade', 'texts_changed', 'renders_differently', 'erased'] as const;

/** What became of a version with lost formats. */
export interface RemadeVersion {
  readonly version: number;
  readonly lost: readonly string[];
  /**
   * `remade`: the same bytes are stored again; in a dry run, they can be. `texts_changed`: it is from other texts than
   * this program has. `renders_differently`: this program makes other bytes from the same texts. `erased`: the
   * key of the reading is gone.
   */
  readonly outcome: (typeof REMAKE_OUTCOMES)[number];
  /** Version of the texts that it was made from. */
  readonly contentVersion: string;
}

/**
 * Makes the lost formats of a reading's published versions again. Stores only bytes whose digest is that of the
 * publication. Nothing is requested, published or announced.
 */
export class RemakeDocuments extends Command<readonly RemadeVersion[]> {
  /** @param result the bytes of `/result` */
  constructor(
    readonly readingId: string,
    readonly result: Buffer,
    readonly dryRun: boolean,
  ) {
    super();
  }
}

/** Ends the live links to documents of a workspace that these callers made, such as those of a leaked key. */
export class EndLinksMadeBy extends Command<{ ended: number }> {
  constructor(
    readonly workspaceId: string,
    /** As recorded with each link: `apiKey:<keyId>`. */
    readonly makers: readonly string[],
  ) {
    super();
  }
}
