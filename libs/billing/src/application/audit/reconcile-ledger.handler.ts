import type pg from 'pg';
import type { TrustedClock } from '@app/event-sourcing/core/trusted-clock.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { eventStoreOptions } from '@app/platform/config/event-store-options.js';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import { CONFIG, TRUSTED_CLOCK } from '@app/platform/tokens.js';
import { correctionDifferences, verifyCorrections } from '../../audit/corrections/verify-corrections.js';
import { ReconcileLedger, type Reconciliation } from '../../contracts/audit.js';
import type { Config } from '../../settings.js';
import { balanceRows } from './balance-rows.js';
import { auditLog } from './log-parts/log-audit.js';
import { serverNow } from './server-now.js';

@QueryHandler(ReconcileLedger)
export class ReconcileLedgerHandler implements IQueryHandler<ReconcileLedger> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  /** Reads the view first, so that the log then has everything the view shows. */
  async execute({ workspaceId, graceMs, progress, threads }: ReconcileLedger): Promise<Reconciliation> {
    const settledBefore = (await serverNow(this.pool, this.clock)) - graceMs;
    const rows = await balanceRows(this.pool, workspaceId);
    const task = { verify: null, reconcile: { workspaceId, rows }, corrections: workspaceId === null };
    const connection = eventStoreOptions(this.config);
    const audit = auditLog(this.store, task, rows.size, threads, connection);
    try {
      await audit.read(progress);
      const { reconciliation, corrections } = await audit.result(settledBefore);
      if (workspaceId !== null) return reconciliation;
      const signatures = await verifyCorrections(this.store, corrections, this.config.OPERATORS);
      const differences = [...reconciliation.differences, ...correctionDifferences(signatures)];
      return { ...reconciliation, differences, compensated: signatures.compensated };
    } finally {
      await audit.close();
    }
  }
}
