import type { KeyObject } from 'node:crypto';
import { Query, Command } from '#platform/cqrs/message.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import type { CompensatedEntry, CorrectionFinding, EntryValue } from './corrections.js';
import type { Accounts, CreditsEvent, Totals } from './events.js';
import type { Money, LedgerEntry, Posting } from './messages.js';

/** Called periodically during a long read. Both numbers have the same unit. */
export type Progress = (done: number, total: number) => void;

/** A finding of an audit, at the revision where it first shows. */
export interface LedgerFinding {
  readonly revision: bigint;
  /**
   * `clock`: the store's record time contradicts the date. `setAside`: a later month was closed without an entry that
   * can be read. In both cases the chain is whole and the books add up, so the month can be sealed.
   */
  readonly check: 'revision' | 'chain' | 'event' | 'date' | 'invariant' | 'clock' | 'setAside';
  readonly message: string;
}

export interface LedgerReport {
  readonly workspaceId: string;
  readonly events: number;
  readonly headRevision: bigint | null;
  readonly headHash: string;
  readonly firstBadRevision: bigint | null;
  /** In stream order. */
  readonly findings: readonly LedgerFinding[];
  /** Wrong dates that a later correction explains: they are findings no more. */
  readonly repairedDates: number;
  readonly setAside: readonly UnreadableEntry[];
}

export interface LedgerVerification {
  readonly books: readonly LedgerReport[];
  /** Of one book: only its own entries. */
  readonly corrections: readonly CorrectionFinding[];
  readonly compensated: readonly CompensatedEntry[];
}

/**
 * Checks hash chain, revisions and invariants from the raw stream, and the signatures of corrections: of one book, or of
 * every book in the log (`null`).
 */
export class VerifyLedger extends Query<LedgerVerification> {
  constructor(
    readonly workspaceId: string | null,
    readonly progress?: Progress,
    /** Of test books, there is nothing signed. */
    readonly livemode = true,
  ) {
    super();
  }
}

/** An event of a reading, and the credit events that name it as their cause. */
export interface ExplainedReadingEvent {
  readonly eventId: string;
  readonly revision: bigint;
  readonly type: string;
  readonly occurredAt: string;
  readonly causes: readonly string[];
}

/** A credit movement of a reading, and the reading's event that caused it. */
export interface ExplainedMovement {
  readonly eventId: string;
  readonly revision: bigint;
  readonly type: CreditsEvent['type'];
  readonly occurredAt: string;
  readonly reservationId: string;
  readonly postings: readonly Posting[];
  readonly allocations: readonly {
    readonly grantId: string;
    readonly amount: number;
    readonly to?: string;
  }[];
  /**
   * Grants that paid, with the value of their credits in cents. Of a capture; of a release, the credits that expired.
   */
  readonly paidBy: readonly {
    readonly grantId: string;
    readonly credits: number;
    readonly cents: number;
  }[];
  readonly actor: string;
  readonly correlationId: string;
  readonly causationId: string;
  /**
   * The ReadingCompleted, ReadingFailed or ReadingAbandoned it names. For a reservation, the ReadingRequested that
   * names it.
   */
  readonly cause: { readonly eventId: string; readonly type: string; readonly revision: bigint } | null;
}

export interface ReadingExplanation {
  readonly readingId: string;
  readonly workspaceId: string;
  readonly outcome: 'completed' | 'failed' | 'abandoned' | 'open';
  readonly reading: readonly ExplainedReadingEvent[];
  readonly credits: readonly ExplainedMovement[];
  /** Mismatches between the two, one sentence each. */
  readonly findings: readonly string[];
  readonly setAside: readonly UnreadableEntry[];
}

/**
 * Every credit movement of a reading with its cause. `workspaceId` is needed only for a reading without an event of its
 * own. `null` when neither stream knows the reading.
 */
export class ExplainReading extends Query<ReadingExplanation | null> {
  constructor(
    readonly readingId: string,
    readonly workspaceId: string | null = null,
  ) {
    super();
  }
}

export interface LedgerDifference {
  readonly kind:
    | 'not_captured'
    | 'not_completed'
    | 'captured_twice'
    | 'completed_twice'
    | 'fields_differ'
    | 'balance_differs'
    | 'balance_behind'
    | 'balance_missing'
    | 'unreadable'
    /** Readers pass over an entry of the open month that can be read. */
    | 'hidden'
    | 'correction';
  readonly workspaceId: string;
  readonly readingId: string | null;
  readonly creditsEventId: string | null;
  readonly readingEventId: string | null;
  readonly message: string;
}

export interface Reconciliation {
  readonly books: number;
  readonly captures: number;
  readonly completed: number;
  readonly differences: readonly LedgerDifference[];
  /** Younger than the grace: their settlement or projection may not be finished. */
  readonly pending: readonly LedgerDifference[];
  /** Events that were passed over by an operator's decision, also those that only settlement passes over. */
  readonly setAside: readonly UnreadableEntry[];
  /** For all workspaces: entries that nobody signed, and that signed corrections took back. */
  readonly compensated: readonly CompensatedEntry[];
}

/**
 * Compares captures, ReadingCompleted events and the balance view, of one workspace or of all (`null`). For all, it also
 * checks the signatures of corrections.
 */
export class ReconcileLedger extends Query<Reconciliation> {
  constructor(
    readonly workspaceId: string | null,
    /** Milliseconds that a completed reading may wait for its capture, and an event of a book for the balance view. */
    readonly graceMs: number,
    readonly progress?: Progress,
    /** Of the books and readings. Those of the other mode are not seen. */
    readonly livemode = true,
  ) {
    super();
  }
}

/** What happened to one grant in a month: opening + granted + released = closing + reserved + removed + expired. */
export interface GrantMovement {
  readonly grantId: string;
  /** Price of the whole grant, 0 for a correction. */
  readonly priceCents: number;
  readonly opening: number;
  readonly granted: number;
  readonly reserved: number;
  readonly released: number;
  /** Captured by completed readings, whenever they were reserved. */
  readonly consumed: number;
  readonly expired: number;
  readonly removed: number;
  /** Left at the end of the month, without held credits. */
  readonly closing: number;
}

export interface MonthlyStatement {
  readonly workspaceId: string;
  readonly period: string;
  readonly closed: boolean;
  readonly opening: Accounts;
  readonly totals: Totals;
  readonly closing: Accounts;
  /** All entries of the month, including its PeriodClosed, and those that cannot be read. */
  readonly entries: readonly LedgerEntry[];
  readonly grants: readonly GrantMovement[];
  readonly money: Money | null;
  /** Of the last entry, which covers all before it. The seal of a closed month has it as `headHash`. */
  readonly chain: string | null;
}

/** `null` when nothing is recorded of that month (`yyyy-mm`, UTC). */
export class GetMonthlyStatement extends Query<MonthlyStatement | null> {
  constructor(
    readonly workspaceId: string,
    readonly period: string,
    readonly livemode = true,
  ) {
    super();
  }
}

/** An event that a report shows and does not interpret: it cannot be read, or an operator set it aside. */
export interface UnreadableEntry {
  readonly stream: string;
  readonly revision: bigint;
  readonly eventId: string;
  readonly type: string;
  readonly occurredAt: string;
  /** Why it cannot be read; `null` when it could. */
  readonly problem: string | null;
  /** Who decided that readers pass over it, and why. `null`: nobody has, and it is a finding. */
  readonly setAside: { readonly by: string; readonly at: string; readonly reason: string } | null;
}

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
  readonly totals: Totals;
  readonly closing: Accounts;
  readonly headRevision: string | null;
  readonly headHash: string;
  readonly period: string | null;
  /** Over the exported events; `null` without events. */
  readonly money: Money | null;
}

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
    /** `yyyy-mm`, UTC: as its seal covers it, from the close of the month before to its own close; `null`: the whole book. */
    readonly period: string | null,
    readonly progress?: Progress,
  ) {
    super();
  }
}

/** An entry that carries a reference. */
export interface FoundEntry {
  readonly workspaceId: string;
  readonly eventId: string;
  readonly revision: bigint;
  /** The type of a credits event; any text for an entry that is not interpreted. */
  readonly type: string;
  readonly occurredAt: string;
  /** Signed; 0 for a subscription. */
  readonly credits: number;
  /** Of a correction. */
  readonly reason: string | null;
  readonly actor: string;
  /** Of a correction: who approved it, and its id. */
  readonly approvedBy: string | null;
  readonly correctionId: string | null;
  /** Of an entry that moves nothing: it cannot be read, or it is set aside. One sentence. */
  readonly unreadable?: string;
}

/** Entries of all books with a reference, or with the id of a correction: packs by their order, plans by their approval. */
export class FindLedgerEntries extends Query<readonly FoundEntry[]> {
  constructor(
    readonly reference: string,
    readonly progress?: Progress,
  ) {
    super();
  }
}

/** A month in a book, to show its newest entries or to pass on all of them. */
export interface MonthMovements {
  readonly closed: boolean;
  readonly opening: Accounts;
  readonly closing: Accounts;
  /** How many entries it has, at most: what it costs to read them. */
  readonly count: number;
  /** The newest first. It reads no more than these, however many the month has. */
  readonly newest: (limit: number) => Promise<readonly LedgerEntry[]>;
  /** The oldest first, as in its `MonthlyStatement`. Pages are read as they are asked for, and only one is held. */
  readonly entries: AsyncIterable<LedgerEntry>;
}

/** The movements of a month (`yyyy-mm`, UTC), however many it has; `null` when nothing is recorded of it. */
export class GetMonthMovements extends Query<MonthMovements | null> {
  constructor(
    readonly workspaceId: string,
    readonly period: string,
  ) {
    super();
  }
}

/** States the end of a book at the end of a month. The signature covers all members except `signature`. */
export interface SealManifest {
  readonly format: 'credit-ledger-seal/1';
  readonly workspaceId: string;
  readonly period: string;
  readonly revision: string;
  readonly eventId: string;
  readonly closedAt: string;
  /** Chain value of the PeriodClosed event. It covers this event and all before it. */
  readonly headHash: string;
  readonly closing: Accounts;
  readonly money: Money;
  /** Lowercase hex SHA-256 of the public key (DER, SPKI). */
  readonly publicKeySha256: string;
}

export interface Seal extends SealManifest {
  /** Base64 of the Ed25519 signature over the canonical JSON of all other members. */
  readonly signature: string;
}

/** A sale, or the value that a reversal moved: an entry of its own in the journal. */
export interface MonthItem {
  readonly figure: 'sales' | EntryValue['as'];
  /** The grant that was sold; the id of the capture, expiry or release; of a correction, its reference. */
  readonly reference: string;
  /** When the plan's month begins; otherwise when it was recorded (RFC 3339). An idle book records a plan's month later. */
  readonly at: string;
  /** Negative: it came back. */
  readonly cents: number;
}

/** A book's month, verified and sealed. */
export interface MonthBook {
  readonly seal: Seal;
  readonly opening: Accounts;
  readonly totals: Totals;
  readonly items: readonly MonthItem[];
}

/** Why a book cannot be sealed. */
export interface MonthProblem {
  readonly workspaceId: string;
  /** The first revision where it shows. `null` when it is not about one. */
  readonly revision: bigint | null;
  readonly message: string;
}

/** An entry under the seals that an auditor should look at. It prevents no seal. */
export interface MonthNote {
  readonly workspaceId: string;
  readonly revision: bigint;
  readonly message: string;
}

/** Codes of the accounts in the company's own books (setting `LEDGER_ACCOUNTS`). */
export type AccountCodes = Record<
  'receivable' | 'deferred' | 'refunds' | 'revenue' | 'breakage' | 'corrections',
  string
>;

/** The sums over all books of a month. */
export interface MonthSums {
  readonly opening: Accounts;
  readonly debit: Accounts;
  readonly credit: Accounts;
  readonly closing: Accounts;
  readonly money: Money;
}

/** Signed by month.sig. Its hashes cover every other file. */
export interface MonthManifest {
  readonly format: 'credit-ledger-month/1';
  readonly period: string;
  readonly books: number;
  /** Over the lines of seals.jsonl, without their line ends (RFC 6962, SHA-256). */
  readonly merkleRoot: string;
  readonly closing: Accounts;
  readonly money: Money;
  readonly reconciliation: {
    readonly captures: number;
    readonly completed: number;
    readonly pending: number;
    /** Events that were passed over by an operator's decision; reconciliation.json lists them. */
    readonly setAside: number;
  };
  readonly notes: number;
  /** Lowercase hex SHA-256 by file name. */
  readonly files: Readonly<Record<string, string>>;
  readonly publicKeySha256: string;
}

export type CloseMonthResult =
  | { readonly outcome: 'not_over' }
  | {
      readonly outcome: 'not_right';
      readonly problems: readonly MonthProblem[];
      readonly differences: readonly LedgerDifference[];
      /** The view that is behind the books or lacks some, when nothing else is wrong: its projection. */
      readonly view: string | null;
    }
  | {
      readonly outcome: 'sealed';
      /** Books whose month this run recorded as closed; the others were closed before. */
      readonly closedNow: number;
      readonly manifest: MonthManifest;
      readonly sums: MonthSums;
      readonly setAside: readonly UnreadableEntry[];
      readonly notes: readonly MonthNote[];
      /** By name, month.json and its signature last. */
      readonly files: ReadonlyMap<string, Uint8Array>;
    };

/**
 * Verifies and reconciles all books in one pass over the log, closes a month (`yyyy-mm`, UTC) in those that have not, and
 * seals it. Safe to repeat: a closed month stays as it is, and the same month and key give the same seals.
 * Seals all books, or none when one of them or their reconciliation is not right. Which books are to be closed follows
 * from the log alone.
 */
export class CloseMonth extends Command<CloseMonthResult> {
  constructor(
    readonly period: string,
    /** Ed25519. */
    readonly privateKey: KeyObject,
    readonly graceMs: number,
    /** How long the balance view may take to catch up with the books, in milliseconds. */
    readonly waitMs: number,
    readonly codes: AccountCodes,
    readonly by: () => RequestContext,
    /** Of each step in turn: the reading of the log, the books to close, those that the balance view has. */
    readonly progress?: Progress,
  ) {
    super();
  }
}
