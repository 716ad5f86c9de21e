import { Query } from '#platform/cqrs/message.js';
import type { Progress } from './audit.js';
import type { Accounts, Totals } from './events.js';
import type { Money } from './money.js';

/** The footer of an export. */
export interface LedgerFooter {
  readonly events: number;
  readonly postings: number;
  /** Entries that the export shows and does not interpret, not among `events`; `null`: none. */
  readonly unreadable: {
    readonly entries: number;
    /** Lowercase hex SHA-256 of their lines: the chain does not cover them. */
    readonly sha256: string;
  } | null;
  /** Turnover of the exported events. */
  readonly totals: Totals;
  readonly closing: Accounts;
  readonly headRevision: string | null;
  readonly headHash: string;
  /** Of an export of one month (`yyyy-mm`), otherwise `null`. */
  readonly period: string | null;
  /** Over the exported events. `null` when it starts in the middle of a month, or has no events. */
  readonly money: Money | null;
}

/** The part of a book to export. */
export type ExportRange =
  | {
      /** Milliseconds: starts with the first event dated at this time or later. `null`: with the book. */
      readonly from: number | null;
      /** Milliseconds: ends before the first later event dated at this time or later. `null`: with the last event. */
      readonly to: number | null;
    }
  /**
   * A month (`yyyy-mm`, UTC) as its seal covers it: from the close of the month before, whose balances, grants and holds
   * it continues, to its own close.
   */
  | { readonly period: string };

export interface LedgerExport {
  /** The text of the export in chunks. Can be read once. */
  readonly text: AsyncIterable<string>;
  /** Correct after `text` has been read to its end. */
  readonly footer: () => LedgerFooter;
}

/** A book as text: one row per posting, and a footer. No text at all for a month of which nothing is recorded. */
export class ExportLedger extends Query<LedgerExport> {
  constructor(
    readonly workspaceId: string,
    readonly format: 'csv' | 'jsonl',
    readonly range: ExportRange,
    readonly progress?: Progress,
  ) {
    super();
  }
}
