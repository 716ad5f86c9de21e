import { Query } from '@app/platform/cqrs/message.js';
import type { Locale } from '@app/numerology/index.js';

export const READING_STATUSES = ['queued', 'processing', 'completed', 'failed'] as const;
export type ReadingStatus = (typeof READING_STATUSES)[number];

/** Where a reading stands, without personal data. */
export interface ReadingSummary {
  readonly readingId: string;
  readonly workspaceId: string;
  readonly status: ReadingStatus;
  readonly locale: Locale;
  /** RFC 3339: when its personal data was erased. */
  readonly erasedAt: string | null;
}

/** Answers `null` when there is no such reading. Reads the row, or the stream when the row is not there yet. */
export class GetReadingSummary extends Query<ReadingSummary | null> {
  constructor(readonly readingId: string) {
    super();
  }
}

/** The exact bytes of `/result` of a completed reading; `null` until then, or once erased. */
export class GetReadingResult extends Query<{ bytes: Buffer; workspaceId: string } | null> {
  constructor(readonly readingId: string) {
    super();
  }
}
