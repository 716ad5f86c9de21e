import { Query } from '#platform/cqrs/message.js';
import type { CompensatedEntry, CorrectionFinding } from './corrections.js';
import type { Accounts, CreditsEvent, Totals } from './events.js';
import type { Money } from './money.js';
import type { Balance, LedgerEntry, Posting } from './queries.js';
import type { UnreadableEntry } from './unreadable-entry.js';

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
  /** One sentence. */
  readonly message: string;
}

export interface LedgerReport {
  readonly workspaceId: string;
  readonly events: number;
  readonly headRevision: bigint | null;
  /** The chain value of the last event. */
  readonly headHash: string;
  readonly firstBadRevision: bigint | null;
  /** In stream order. */
  readonly findings: readonly LedgerFinding[];
  /** Wrong dates that a later correction explains: they are findings no more. */
  readonly repairedDates: number;
  /** Events that were passed over by an operator's decision. */
  readonly setAside: readonly UnreadableEntry[];
}

export interface LedgerVerification {
  /** None when there is no such book. */
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
  /** Events that were passed over by an operator's decision. */
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
  /** Id of the event in the book. */
  readonly creditsEventId: string | null;
  /** Id of the event of the reading. */
  readonly readingEventId: string | null;
  /** One sentence. */
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

/** A revision, or an instant in milliseconds. */
export type AsOf = { readonly revision: bigint } | { readonly instant: number };

/**
 * The balance after a revision, or at an instant. Credits expired by then count as expired, recorded or not. `null`
 * when the book was not open then.
 */
export class GetBalanceAsOf extends Query<Balance | null> {
  constructor(
    readonly workspaceId: string,
    readonly asOf: AsOf,
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
  /** Left at the start of the month. */
  readonly opening: number;
  readonly granted: number;
  readonly reserved: number;
  readonly released: number;
  /** Captured by completed readings, whenever they were reserved. */
  readonly consumed: number;
  readonly expired: number;
  /** Removed by adjustments. */
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
  /** What a wrong clock did to the dates of this month, one sentence each without its full stop. */
  readonly notes: readonly string[];
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

/** The same statement as a PDF, with a chart of the balance over the month. */
export class TypesetMonthlyStatement extends Query<Uint8Array | null> {
  constructor(
    readonly workspaceId: string,
    readonly period: string,
    /** The workspace's name, to print. */
    readonly workspaceName: string | null = null,
  ) {
    super();
  }
}
