import type pg from 'pg';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import { CLOCK } from '@app/platform/tokens.js';
import { Reconciler, type BalanceRow } from '../../audit/reconcile.js';
import { ReconcileLedger, type Reconciliation } from '../../contracts/audit.js';
import { visitLog } from './read.js';

@QueryHandler(ReconcileLedger)
export class ReconcileLedgerHandler implements IQueryHandler<ReconcileLedger> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  /** Reads the view first, so that the log then has everything the view shows. */
  async execute({ workspaceId, graceMs, progress }: ReconcileLedger): Promise<Reconciliation> {
    const settledBefore = this.clock.now() - graceMs;
    const reconciler = new Reconciler(workspaceId, await this.balances(workspaceId));
    await visitLog(this.store, (event) => reconciler.see(event), progress);
    return reconciler.report(settledBefore);
  }

  private async balances(workspaceId: string | null): Promise<Map<string, BalanceRow>> {
    const { rows } = await this.pool.query<Record<string, string>>(
      `select workspace_id, revision::text, available::text, held::text, consumed::text, expired::text,
              granted::text, adjusted::text
       from billing.balance where $1::text is null or workspace_id = $1`,
      [workspaceId],
    );
    return new Map(
      rows.map((row) => [
        row['workspace_id']!,
        {
          revision: BigInt(row['revision']!),
          balance: {
            available: Number(row['available']),
            held: Number(row['held']),
            consumed: Number(row['consumed']),
            expired: Number(row['expired']),
            granted: Number(row['granted']),
            adjusted: Number(row['adjusted']),
          },
        },
      ]),
    );
  }
}
