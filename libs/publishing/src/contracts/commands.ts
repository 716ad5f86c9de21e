import { Command } from '#platform/cqrs/message.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';

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

export const REMAKE_OUTCOMES = ['remade', 'texts_changed', 'renders_differently', 'erased'] as const;

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
