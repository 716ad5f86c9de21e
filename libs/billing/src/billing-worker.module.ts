import { Inject, Module, type OnModuleInit } from '@nestjs/common';
import { CommandBus } from '@nestjs/cqrs';
import type { Logger } from 'pino';
import { processConsumer } from '#event-sourcing/processes/process.js';
import { projectionConsumer } from '#event-sourcing/projections/projection.js';
import { CONFIG, LOGGER } from '#platform/tokens.js';
import { repeatedWork } from '#platform/work/repeated-work.js';
import { WorkRegistry } from '#platform/work/work-registry.js';
import { HoldFence, IdleBooks } from './application/upkeep.js';
import { ScheduledReconciliation, LedgerMetrics } from './application/audits.js';
import { DocumentRefunds } from './application/corrections.js';
import { Settlements } from './application/reservations.js';
import { BillingModule } from './billing.module.js';
import { billingProjections } from './projections.js';
import { bookOpening, documentRefunds, settlement } from './processes.js';
import type { Config } from './settings.js';

/** How often a worker looks while a hold grows old enough: the release then comes a quarter of that age late at most. */
const SWEEPS_PER_FENCE = 4;

/**
 * Billing's background work: opens books, settles reservations, refunds documents that were given up, updates its views,
 * fences holds without a reading, reconciles.
 */
@Module({
  imports: [BillingModule],
  providers: [DocumentRefunds, HoldFence, IdleBooks, ScheduledReconciliation, LedgerMetrics, Settlements],
})
export class BillingWorkerModule implements OnModuleInit {
  constructor(
    private readonly work: WorkRegistry,
    private readonly commands: CommandBus,
    private readonly fence: HoldFence,
    private readonly idleBooks: IdleBooks,
    private readonly reconciliation: ScheduledReconciliation,
    private readonly refunds: DocumentRefunds,
    private readonly settlements: Settlements,
    @Inject(CONFIG) private readonly config: Config,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  onModuleInit(): void {
    for (const one of billingProjections) this.work.addConsumer(projectionConsumer(one));
    this.work.addConsumer(processConsumer(bookOpening, (command) => this.commands.execute(command)));
    this.work.addConsumer(processConsumer(settlement, (ended) => this.settlements.settle(ended)));
    this.work.addConsumer(processConsumer(documentRefunds, (refund) => this.refunds.book(refund)));
    this.addLoop('billing.hold-fence', (signal) => this.fence.sweep(signal));
    this.addLoop('billing.idle-books', (signal) => this.idleBooks.nudge(signal));
    this.addLoop('billing.reconciliation', (signal) => this.reconciliation.round(signal));
  }

  private addLoop(name: string, round: (signal: AbortSignal) => Promise<void>): void {
    const everyMs = Math.ceil(this.config.RESERVATION_FENCE_MS / SWEEPS_PER_FENCE);
    this.work.addLoop(repeatedWork(name, everyMs, round, this.log));
  }
}
