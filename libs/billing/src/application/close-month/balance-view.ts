import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { findCheckpoint } from '#event-sourcing/projections/checkpoint.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import type { LedgerDifference } from '../../contracts/audit.js';
import type { CloseMonth } from '../../contracts/month.js';
import { balanceProjection } from '../../read-models/balance/balance.projection.js';
import { balanceRows } from '../audit/balance-rows.js';
import type { AuditResult, LogAudit } from '../audit/log-audit.js';

/** Milliseconds between two looks at the view. */
const LOOK_EVERY_MS = 500;

/** Whether a difference only says that the view is behind a book or lacks it. */
export const isOfView = ({ kind }: Pick<LedgerDifference, 'kind'>): boolean =>
  kind === 'balance_behind' || kind === 'balance_missing';

/** The balance view, as a month of the ledger waits for it. */
export class BalanceView {
  constructor(
    private readonly pool: pg.Pool,
    private readonly store: Pick<EventStore, 'head'>,
  ) {}

  /**
   * What an audit found, once the view has caught up with the books; or after `waitMs`, or when the view has handled the
   * log and still lacks entries. Reports progress in books.
   * @param settledBefore as in reconciliationOf
   */
  async caughtUp(
    audit: LogAudit,
    settledBefore: number,
    { waitMs, progress }: Pick<CloseMonth, 'waitMs' | 'progress'>,
  ): Promise<AuditResult> {
    const until = performance.now() + waitMs;
    const head = await this.store.head();
    for (;;) {
      const result = await audit.result(settledBefore);
      const { books, differences } = result.reconciliation;
      const behind = differences.filter(isOfView).length;
      if (behind === 0 || performance.now() >= until) return result;
      progress?.('wait for the balance view', Math.max(0, books - behind), books);
      const position = (await findCheckpoint(this.pool, balanceProjection.name))?.position ?? null;
      const isLast = head !== null && position !== null && position >= head;
      if (!isLast) await delay(Math.min(LOOK_EVERY_MS, Math.max(0, until - performance.now())));
      // The rows first, so that the log then has everything the view shows.
      audit.refresh(await balanceRows(this.pool, null));
      await audit.read();
      if (isLast) return audit.result(settledBefore);
    }
  }
}
