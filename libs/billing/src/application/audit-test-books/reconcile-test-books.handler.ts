import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import type { TrustedClock } from '#event-sourcing/core/trusted-clock.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { TRUSTED_CLOCK } from '#platform/tokens.js';
import { readingEvents } from '#readings/contracts/index.js';
import type { BalanceRow } from '../../audit/book-balances.js';
import { TEST_BOOKS } from '../../audit/book-kind.js';
import { reconciliationOf } from '../../audit/reconcile.js';
import { ReconcilePart } from '../../audit/reconcile-part.js';
import { Settlements } from '../../audit/settlements.js';
import type { Reconciliation } from '../../contracts/audit.js';
import { ReconcileTestBooks } from '../../contracts/test-book-audit.js';
import { factsOfReadings } from '../audit/facts-of-readings.js';
import { visitLog } from '../audit/read.js';
import { serverNow } from '../audit/server-now.js';

@QueryHandler(ReconcileTestBooks)
export class ReconcileTestBooksHandler implements IQueryHandler<ReconcileTestBooks> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
  ) {}

  /** Reads the view first, so that the log then has everything the view shows. */
  async execute({ workspaceId, graceMs, progress }: ReconcileTestBooks): Promise<Reconciliation> {
    const settledBefore = (await serverNow(this.pool, this.clock)) - graceMs;
    const rows = await this.balanceRows(workspaceId);
    const head = (await this.store.head()) ?? 0n;
    const settlements = new Settlements();
    const part = new ReconcilePart(workspaceId, rows, (fact) => settlements.add(fact), TEST_BOOKS);
    const only = { categories: [TEST_BOOKS.category, readingEvents.category] };
    await visitLog(this.store, (event) => part.see(event), progress, only);
    for (const fact of await factsOfReadings(this.store, settlements.reopened, head, workspaceId, TEST_BOOKS))
      settlements.recall(fact);
    return reconciliationOf([part.result()], settlements, settledBefore);
  }

  private async balanceRows(workspaceId: string | null): Promise<Map<string, BalanceRow>> {
    const { rows } = await this.pool.query<Record<string, string>>(
      `select workspace_id, revision::text, available::text, held::text, consumed::text, filled::text
       from billing.test_balance where $1::text is null or workspace_id = $1`,
      [workspaceId],
    );
    return new Map(rows.map((row) => [row['workspace_id']!, rowOf(row)]));
  }
}

const rowOf = (row: Readonly<Record<string, string>>): BalanceRow => ({
  revision: BigInt(row['revision']!),
  balance: {
    available: Number(row['available']),
    held: Number(row['held']),
    consumed: Number(row['consumed']),
    filled: Number(row['filled']),
  },
});
