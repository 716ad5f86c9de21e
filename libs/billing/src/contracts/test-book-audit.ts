import { Query } from '#platform/cqrs/message.js';
import type { AsOf, LedgerReport, Progress, Reconciliation } from './audit.js';
import type { TestBalance, TestPosting } from './test-book.js';

/**
 * The test credits of a workspace: as the next reservation would find them, or as they were after a revision or at an
 * instant. `null` when the book was not open then; before its first reservation, it counts as full today.
 */
export class GetTestBalance extends Query<TestBalance | null> {
  constructor(
    readonly workspaceId: string,
    readonly asOf: AsOf | null,
  ) {
    super();
  }
}

/** One event of a test book as a row of a statement. */
export interface TestLedgerEntry {
  readonly eventId: string;
  readonly occurredAt: string;
  /** The type of an event of a test book; any text for an entry that is not interpreted. */
  readonly type: string;
  readonly revision: bigint;
  readonly postings: readonly TestPosting[];
  readonly availableAfter: number;
  readonly heldAfter: number;
  readonly readingId: string | null;
  readonly reservationId: string | null;
  readonly actor: string;
  /** Of an entry that moves nothing: it cannot be read, or it is set aside. One sentence. */
  readonly unreadable?: string;
}

export interface TestStatement {
  readonly workspaceId: string;
  /** `null`: everything. */
  readonly period: string | null;
  readonly opening: TestBalance;
  readonly closing: TestBalance;
  readonly entries: readonly TestLedgerEntry[];
}

/**
 * Every event of a test book, oldest first, or those dated in a month (`yyyy-mm`, UTC). Test books close no month.
 * `null` when there are none.
 */
export class GetTestStatement extends Query<TestStatement | null> {
  constructor(
    readonly workspaceId: string,
    readonly period: string | null,
  ) {
    super();
  }
}

/** Checks hash chain, revisions and invariants from the raw stream, of one test book or of every one (`null`). */
export class VerifyTestBooks extends Query<readonly LedgerReport[]> {
  constructor(
    readonly workspaceId: string | null,
    readonly progress?: Progress,
  ) {
    super();
  }
}

/**
 * Compares captures of test credits, completed test readings, and the view of test balances, of one workspace or of all
 * (`null`). Sees nothing of the live books, as their reconciliation sees nothing of these.
 */
export class ReconcileTestBooks extends Query<Reconciliation> {
  constructor(
    readonly workspaceId: string | null,
    /** Milliseconds that a completed reading may wait for its capture, and an event of a book for the balance view. */
    readonly graceMs: number,
    readonly progress?: Progress,
  ) {
    super();
  }
}
