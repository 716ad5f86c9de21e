import type pg from 'pg';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import type { TrustedClock } from '@app/event-sourcing/core/trusted-clock.js';
import { EVENT_STORE, type EventStore } from '@app/event-sourcing/store/event-store.js';
import { QueryHandler, type IQueryHandler } from '@app/platform/cqrs/handler.js';
import { Inject } from '@app/platform/injection.js';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import { CONFIG, TRUSTED_CLOCK } from '@app/platform/tokens.js';
import { auditedCorrections, correctionDifferences } from '../../audit/corrections/as-differences.js';
import { CorrectionsVerifier } from '../../audit/corrections/verify-corrections.js';
import { Reconciler } from '../../audit/reconcile.js';
import { ReconcileLedger, type Reconciliation } from '../../contracts/audit.js';
import type { Config } from '../../settings.js';
import { balanceRows } from './balance-rows.js';
import { visitLog } from './read.js';
import { serverNow } from './server-now.js';

@QueryHandler(ReconcileLedger)
export class ReconcileLedgerHandler implements IQueryHandler<ReconcileLedger> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'OPERATOR_ROOT_KEYS'>,
  ) {}

  /** Reads the view first, so that the log then has everything the view shows. */
  async execute({ workspaceId, graceMs, progress }: ReconcileLedger): Promise<Reconciliation> {
    const settledBefore = (await serverNow(this.pool, this.clock)) - graceMs;
    const reconciler = new Reconciler(workspaceId, await balanceRows(this.pool, workspaceId));
    if (workspaceId !== null) {
      await visitLog(this.store, (event) => reconciler.see(event), progress);
      return reconciler.report(settledBefore);
    }
    const roots = this.config.OPERATOR_ROOT_KEYS;
    const corrections = new CorrectionsVerifier(roots);
    const visit = (event: StoredEvent): void => {
      reconciler.see(event);
      corrections.see(event);
    };
    await visitLog(this.store, visit, progress);
    const found = reconciler.report(settledBefore);
    const more = correctionDifferences(auditedCorrections(corrections, roots));
    return { ...found, differences: [...found.differences, ...more] };
  }
}
