import type { RequestContext } from '#event-sourcing/core/request-context.js';
import { Command } from '#platform/cqrs/message.js';
import type { LedgerDifference } from './audit.js';
import type { EntryValue } from './corrections.js';
import type { Seal } from './seal.js';
import type { UnreadableEntry } from './unreadable-entry.js';
import type { Accounts, Totals } from './events.js';
import type { Money } from './money.js';

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
  /** One sentence. */
  readonly message: string;
}

/** An entry under the seals that an auditor should look at. It prevents no seal. */
export interface MonthNote {
  readonly workspaceId: string;
  readonly revision: bigint;
  /** One sentence. */
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
  /** Version 1 had no refunds. */
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
  /** Entries that notes.json lists. */
  readonly notes: number;
  /** Lowercase hex SHA-256 by file name. */
  readonly files: Readonly<Record<string, string>>;
  readonly publicKeySha256: string;
}

export type CloseMonthResult =
  | { readonly outcome: 'not_over' }
  | { readonly outcome: 'not_an_ed25519_key' }
  /** Nothing is sealed. */
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
      /** Events that were passed over by an operator's decision. */
      readonly setAside: readonly UnreadableEntry[];
      readonly notes: readonly MonthNote[];
      /** By name, month.json and its signature last. */
      readonly files: ReadonlyMap<string, Uint8Array>;
    };

export type MonthStep = 'close' | 'verify and reconcile' | 'wait for the balance view';

/**
 * Verifies and reconciles all books in one pass over the log, closes a month (`yyyy-mm`, UTC) in those that have not, and
 * seals it. Safe to repeat: a closed month stays as it is, and the same month and key give the same seals.
 * Seals all books, or none when one of them or their reconciliation is not right. Which books are to be closed follows
 * from the log alone.
 */
export class CloseMonth extends Command<CloseMonthResult> {
  constructor(
    readonly period: string,
    /** PEM, PKCS #8. */
    readonly privateKey: string,
    /** As in ReconcileLedger. */
    readonly graceMs: number,
    /** How long the balance view may take to catch up with the books, in milliseconds. */
    readonly waitMs: number,
    readonly codes: AccountCodes,
    readonly by: () => RequestContext,
    readonly progress?: (step: MonthStep, done: number, total: number) => void,
  ) {
    super();
  }
}
