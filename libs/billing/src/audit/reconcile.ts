import type { StoredEvent } from '#event-sourcing/core/event.js';
import type { LedgerDifference, Reconciliation } from '../contracts/audit.js';
import type { BalanceRow } from './book-balances.js';
import { byPosition, type Missing } from './ledger-difference.js';
import { ReconcilePart, type ReconciledPart } from './reconcile-part.js';
import { Settlements } from './settlements.js';

/**
 * Puts the parts of a log together. The answer does not depend on how the log was divided.
 * @param settledBefore milliseconds: a missing counterpart of a later event is pending, not a difference
 */
export const reconciliationOf = (
  parts: readonly ReconciledPart[],
  settlements: Settlements,
  settledBefore: number,
): Reconciliation => {
  const judged = settlements.judge();
  const found = [...parts.flatMap(({ differences }) => differences), ...judged.differences].sort(byPosition);
  const differences = found.map(({ found: difference }) => difference);
  const pending: LedgerDifference[] = [];
  const addMissing = (missing: readonly Missing[]): void => {
    for (const { since, difference } of missing.toSorted(byPosition))
      (since === null || since < settledBefore ? differences : pending).push(difference);
  };
  addMissing(judged.missing);
  addMissing(parts.flatMap(({ missing }) => missing));
  return {
    books: parts.reduce((sum, { books }) => sum + books, 0),
    captures: settlements.captures,
    completed: settlements.completed,
    differences,
    pending,
    setAside: parts
      .flatMap(({ setAside }) => setAside)
      .sort(byPosition)
      .map(({ found: entry }) => entry),
    compensated: [],
  };
};

/**
 * Compares three records of the same credits in one pass over the log: captures, ReadingCompleted events, and the
 * balance view. For logs in memory: it keeps the facts of all readings.
 */
export class Reconciler {
  private readonly settlements = new Settlements(null);
  private readonly part: ReconcilePart;

  /** @param rows read before the log, by workspace */
  constructor(workspaceId: string | null, rows: ReadonlyMap<string, BalanceRow>, livemode = true) {
    this.part = new ReconcilePart(workspaceId, rows, (fact) => this.settlements.add(fact), livemode);
  }

  see(stored: StoredEvent): void {
    this.part.see(stored);
  }

  /** @param settledBefore as in {@link reconciliationOf} */
  report(settledBefore: number): Reconciliation {
    return reconciliationOf([this.part.result()], this.settlements, settledBefore);
  }
}
