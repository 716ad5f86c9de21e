import { Command, Query } from '#platform/cqrs/message.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import type { PublishedDocument } from './ports.js';
import type { RetentionStatus } from '#platform/retention/retention-status.js';
import type { Locale } from '#numerology/index.js';

/**
 * Permanently erases the personal data of a reading. An unfinished reading first fails as `input_unprocessable`, so
 * that its credits are released.
 */
export class EraseReading extends Command<{ outcome: 'erased' | 'already_erased' | 'unknown_reading' }> {
  constructor(
    readonly readingId: string,
    readonly workspaceId: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}

/**
 * Fences a reservation that no reading names: no reading can use it afterwards. `claimed` when a reading already names
 * it; then nothing changes.
 * `livemode`: whether the reservation is of the live book.
 */
export class AbandonReading extends Command<{ outcome: 'abandoned' | 'claimed' }> {
  constructor(
    readonly readingId: string,
    readonly workspaceId: string,
    readonly reservationId: string,
    readonly livemode: boolean,
    readonly reason: string,
  ) {
    super();
  }
}

/** `not_ready`: a new test reading is not published yet. */
export type TrialReadingResult =
  | { readonly outcome: 'ready'; readonly readingId: string; readonly document: PublishedDocument }
  | { readonly outcome: 'not_ready' | 'billing_misconfigured' }
  | { readonly outcome: 'insufficient_credits'; readonly required: number; readonly available: number };

/**
 * Finds the newest test reading of a workspace whose result and document can be fetched. Without one, requests one about
 * an invented person, and waits some seconds until it is published. @throws StoreUnavailable
 */
export class PrepareTrialReading extends Command<TrialReadingResult> {
  constructor(
    readonly workspaceId: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}

export const READING_STATUSES = ['queued', 'processing', 'completed', 'failed'] as const;
export type ReadingStatus = (typeof READING_STATUSES)[number];

/** The status of a reading, without personal data. */
export interface ReadingSummary {
  readonly readingId: string;
  readonly workspaceId: string;
  /** False for a test reading. */
  readonly livemode: boolean;
  readonly status: ReadingStatus;
  readonly locale: Locale;
  /** RFC 3339: when its personal data was erased. */
  readonly erasedAt: string | null;
  /** The newest version of its document that the reading shows; `null`: none yet. */
  readonly documentVersion: number | null;
}

/** `null` when there is no such reading. Reads the row, or the stream while the row is missing. */
export class GetReadingSummary extends Query<ReadingSummary | null> {
  constructor(readonly readingId: string) {
    super();
  }
}

/**
 * When the documents of a completed reading may be published (RFC 3339): a test reading may ask for a late publication.
 * `null`: at once.
 */
export class GetPublicationTime extends Query<string | null> {
  constructor(readonly readingId: string) {
    super();
  }
}

/**
 * Whether this attempt at a webhook of the reading, from 1, is to be refused: a test reading may ask for it. Never after its
 * erasure.
 */
export class AsksForRefusal extends Query<boolean> {
  constructor(
    readonly readingId: string,
    readonly attempt: number,
  ) {
    super();
  }
}

/** The exact bytes of `/result`; `null` until the reading is completed, and after its erasure. */
export class GetReadingResult extends Query<{
  bytes: Buffer;
  workspaceId: string;
  livemode: boolean;
} | null> {
  constructor(readonly readingId: string) {
    super();
  }
}

/** Batches that have not ended in time. */
export interface OpenBatches {
  readonly count: number;
  /** The oldest, and up to 20 of the readings that it waits for; `null` when there is none. */
  readonly oldest: {
    readonly batchId: string;
    readonly workspaceId: string;
    readonly waitsFor: readonly string[];
  } | null;
}

/** Those requested more than so many milliseconds ago, by PostgreSQL's clock. */
export class FindOpenBatches extends Query<OpenBatches> {
  constructor(readonly olderThanMs: number) {
    super();
  }
}

/** Test readings that are not erased, and those that should be. */
export class LookAtTestReadings extends Query<RetentionStatus> {
  /** @param now milliseconds since the epoch */
  constructor(readonly now: number) {
    super();
  }
}

/**
 * The external id of a reading; `null` when it has none, when its seal is broken, and after its erasure. Reads the row, or
 * the stream while the row is missing. Many at once need one statement.
 * @throws KeysUnavailable while this process cannot open the reading: `null` would say that there is no external id
 */
export class GetExternalId extends Query<string | null> {
  constructor(readonly readingId: string) {
    super();
  }
}

/** Readings that were accepted on a day (UTC, `yyyy-mm-dd`). */
export interface ReadingsOfDay {
  readonly day: string;
  readonly readings: number;
}

/**
 * How many readings of a mode a workspace ordered on each day since an instant (RFC 3339), oldest first, without days
 * that have none.
 */
export class CountReadings extends Query<readonly ReadingsOfDay[]> {
  constructor(
    readonly workspaceId: string,
    readonly livemode: boolean,
    readonly since: string,
  ) {
    super();
  }
}
