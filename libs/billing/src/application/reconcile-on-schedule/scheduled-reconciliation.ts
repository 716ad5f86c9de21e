import { Inject, Injectable } from '@nestjs/common';
import { QueryBus } from '@nestjs/cqrs';
import type pg from 'pg';
import type { Logger } from 'pino';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CONFIG, LOGGER } from '#platform/tokens.js';
import { ReconcileLedger, type Reconciliation } from '../../contracts/audit.js';
import type { Config } from '../../settings.js';

/** Most differences logged one by one. The reconcile command lists all of them. */
const MOST_ALERTS = 100;
/** How long a completed reading may wait for its capture before it counts as a difference (ms). */
const GRACE_MS = 60_000;

/**
 * Reconciles all books periodically; one worker at a time does it. Stores the figures in `billing.reconciliation` and
 * logs an alert for each difference. Does not change the ledger.
 */
@Injectable()
export class ScheduledReconciliation {
  constructor(
    private readonly queries: QueryBus,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CONFIG) private readonly config: Pick<Config, 'LEDGER_RECONCILE_EVERY_MS'>,
    @Inject(LOGGER) private readonly log: Logger,
  ) {}

  /** Reconciles if the interval has passed. Stops when the signal aborts. */
  async round(signal: AbortSignal): Promise<void> {
    const startedAt = await this.claim();
    if (startedAt === null) return;
    const query = new ReconcileLedger(null, GRACE_MS, () => signal.throwIfAborted());
    const result = await this.queries.execute(query).catch(async (error: unknown) => {
      await this.release(startedAt);
      throw error;
    });
    await this.record(startedAt, result);
    this.report(result);
  }

  /**
   * Claims the round, unless one started less than the interval ago by PostgreSQL's clock: the clocks of two workers may
   * differ. @returns when it started, as PostgreSQL writes it
   */
  private async claim(): Promise<string | null> {
    const { rows } = await this.pool.query<{ at: string }>(
      `insert into billing.reconciliation as last (started_at) values (clock_timestamp())
       on conflict (only_row) do update set started_at = excluded.started_at, finished_at = null
       where last.started_at <= clock_timestamp() - make_interval(secs => $1)
       returning started_at::text as at`,
      [this.config.LEDGER_RECONCILE_EVERY_MS / 1_000],
    );
    return rows[0]?.at ?? null;
  }

  /** Lets any worker's next round retry at once. */
  private async release(startedAt: string): Promise<void> {
    await this.pool.query(
      `update billing.reconciliation set started_at = '-infinity' where started_at = $1::timestamptz`,
      [startedAt],
    );
  }

  private async record(startedAt: string, result: Reconciliation): Promise<void> {
    const { books, captures, completed, differences, pending } = result;
    await this.pool.query(
      `update billing.reconciliation
       set finished_at = clock_timestamp(), books = $2, captures = $3, completed = $4, differences = $5, pending = $6
       where started_at = $1::timestamptz`,
      [startedAt, books, captures, completed, differences.length, pending.length],
    );
  }

  private report({ books, captures, completed, differences, pending }: Reconciliation): void {
    for (const { message, ...difference } of differences.slice(0, MOST_ALERTS)) {
      this.log.error({ alert: 'ledger_difference', ...difference }, `the ledger differs: ${message}`);
    }
    const figures = { books, captures, completed, differences: differences.length, pending: pending.length };
    this.log.info({ metric: 'ledger_reconciliation', ...figures }, 'the ledger was reconciled');
  }
}
