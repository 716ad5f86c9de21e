import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import type { TrustedClock } from '#event-sourcing/core/trusted-clock.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CONFIG, TRUSTED_CLOCK } from '#platform/tokens.js';
import { correctionDifferences, verifyCorrections } from '../../audit/corrections.js';
import { ReconcileLedger, type Reconciliation } from '../../contracts/audit.js';
import type { Config } from '../../settings.js';
import { balanceRows } from './balance-rows.js';
import { LogAudit } from './log-audit.js';
import { serverNow } from './server-now.js';

@QueryHandler(ReconcileLedger)
export class ReconcileLedgerHandler implements IQueryHandler<ReconcileLedger> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'OPERATORS'>,
  ) {}

  /** Reads the view first, so that the log then has everything the view shows. */
  async execute({ workspaceId, graceMs, livemode, progress }: ReconcileLedger): Promise<Reconciliation> {
    const settledBefore = (await serverNow(this.pool, this.clock)) - graceMs;
    const rows = await balanceRows(this.pool, workspaceId, livemode);
    const audit = new LogAudit(this.store, { verify: null, workspaceId, rows, livemode });
    await audit.read(progress);
    const { reconciliation, corrections } = await audit.result(settledBefore);
    if (workspaceId !== null || !livemode) return reconciliation;
    const signatures = await verifyCorrections(this.store, corrections, this.config.OPERATORS);
    const differences = [...reconciliation.differences, ...correctionDifferences(signatures)];
    return { ...reconciliation, differences, compensated: signatures.compensated };
  }
}
