import type { RequestContext } from '@app/event-sourcing/core/request-context.js';
import { Command } from '@app/platform/cqrs/message.js';
import type { Reconciliation, Seal } from './audit.js';
import type { Accounts, Totals } from './events.js';

/** A plan's month or a pack that was granted in a month. */
export interface MonthSale {
  readonly grantId: string;
  readonly kind: 'plan' | 'pack';
  /** RFC 3339. */
  readonly at: string;
  readonly cents: number;
}

/** A book's month, verified and sealed. */
export interface MonthBook {
  readonly seal: Seal;
  readonly opening: Accounts;
  readonly totals: Totals;
  readonly sales: readonly MonthSale[];
}

/** Why a book cannot be sealed. */
export interface MonthProblem {
  readonly workspaceId: string;
  /** The first revision where it shows. `null` when it is not about one. */
  readonly revision: bigint | null;
  /** One sentence. */
  readonly message: string;
}

export type CloseMonthResult =
  | { readonly outcome: 'not_over' }
  | { readonly outcome: 'not_an_ed25519_key' }
  | {
      readonly outcome: 'done';
      /** Books whose month this run recorded as closed; the others were closed before. */
      readonly closedNow: number;
      /** In the order of their workspaces. */
      readonly books: readonly MonthBook[];
      readonly problems: readonly MonthProblem[];
      readonly reconciliation: Reconciliation;
    };

export type MonthStep = 'close' | 'verify and reconcile';

/**
 * Closes a month (`yyyy-mm`, UTC) of all books, then verifies, reconciles and seals them in one pass over the log. Safe to
 * repeat: a closed month stays as it is, and the same month and key give the same seals.
 */
export class CloseMonth extends Command<CloseMonthResult> {
  constructor(
    readonly period: string,
    /** PEM, PKCS #8. */
    readonly privateKey: string,
    /** As in ReconcileLedger. */
    readonly graceMs: number,
    readonly by: () => RequestContext,
    readonly progress?: (step: MonthStep, done: number, total: number) => void,
  ) {
    super();
  }
}
