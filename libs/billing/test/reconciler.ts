import type { StoredEvent } from '#event-sourcing/core/event.js';
import { reconciliationOf, ReconcilePart, type BalanceRow } from '../src/audit/reconcile.js';
import { Settlements } from '../src/audit/settlements.js';
import type { Reconciliation } from '../src/contracts/index.js';

/** Reconciles logs in memory: it keeps the facts of all readings, so it is exact. */
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

  /** @param settledBefore as in `reconciliationOf` */
  report(settledBefore: number): Reconciliation {
    return reconciliationOf(this.part.result(), this.settlements, settledBefore);
  }
}
