import type pg from 'pg';
import type { Clock } from '@app/event-sourcing/core/clock.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import { CLOCK } from '@app/platform/tokens.js';
import { Reconciler } from '../../audit/reconcile.js';
import { ReconcileLedger, type Reconciliation } from '../../contracts/audit.js';
import { balanceRows } from './balance-rows.js';
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
    const reconciler = new Reconciler(workspaceId, await balanceRows(this.pool, workspaceId));
    await visitLog(this.store, (event) => reconciler.see(event), progress);
    return reconciler.report(settledBefore);
  }
}
