import type { StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf } from '#event-sourcing/core/stream-name.js';
import { type EventStore, EVENT_STORE } from '#event-sourcing/store/event-store.js';
import { readingEvents } from '#readings/contracts/index.js';
import type pg from 'pg';
import type { TrustedClock } from '#event-sourcing/core/clock.js';
import { type BalanceRow, Reconciler } from '../audit/reconcile.js';
import { isCorrection, verifyCorrections, correctionDifferences } from '../audit/corrections.js';
import { bookEvent } from '../audit/book-entry.js';
import { VerifiedBooks } from '../audit/verify-book.js';
import {
  type Progress,
  VerifyLedger,
  type LedgerVerification,
  ReconcileLedger,
  type Reconciliation,
} from '../contracts/audit.js';
import type { Balance } from '../contracts/messages.js';
import { booksOf, bookStream } from '../contracts/events.js';
import { visitLog, readStream } from './read.js';
import { modeOf } from '../projections.js';
import { Inject, Injectable } from '@nestjs/common';
import { QueryHandler, type IQueryHandler, QueryBus } from '@nestjs/cqrs';
import { CONFIG, TRUSTED_CLOCK, LOGGER } from '#platform/tokens.js';
import type { Config } from '../settings.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import type { Logger } from 'pino';
import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import { METRICS } from '#platform/telemetry/metrics.js';
import { scrapedGauges } from '#platform/telemetry/scraped-gauges.js';

/** One pass over all books of the log and their readings. */
export class LogAudit {
  /** `CreditsAdjusted` of live books. */
  readonly corrections: StoredEvent[] = [];
  private reached: bigint | null = null;

  /** @param books `null`: only reconcile @param livemode of the books and readings */
  constructor(
    private readonly store: Pick<EventStore, 'head' | 'readAll'>,
    readonly reconciler: Reconciler,
    readonly books: VerifiedBooks | null = null,
    private readonly livemode = true,
  ) {}

  /** Reads on, up to the head of the log. Reports progress in positions. @throws StoreUnavailable */
  async read(progress?: Progress): Promise<void> {
    const category = booksOf(this.livemode);
    const visit = (stored: StoredEvent): void => {
      if (isCorrection(stored)) this.corrections.push(stored);
      if (categoryOf(stored.stream) !== category) return this.reconciler.see(stored);
      // Decoding costs as much as judging: once for both.
      const event = bookEvent(stored);
      this.books?.see(stored, event);
      this.reconciler.see(stored, event);
    };
    const only = { categories: [category, readingEvents.category] };
    this.reached = await visitLog(this.store, visit, progress, only, this.reached);
  }
}

/** The balance view of one workspace or of all (`null`), by workspace. */
export const balanceRows = async (
  pool: pg.Pool,
  workspaceId: string | null,
  livemode = true,
): Promise<Map<string, BalanceRow>> => {
  const { rows } = await pool.query<{ workspace_id: string; revision: string; balance: Balance }>(
    `select workspace_id, revision::text, json_build_object(
              'available', available, 'held', held, 'consumed', consumed,
              'expired', expired, 'granted', granted, 'adjusted', adjusted) as balance
     from billing.balance where ($1::text is null or workspace_id = $1) and mode = $2`,
    [workspaceId, modeOf(livemode)],
  );
  return new Map(
    rows.map(({ workspace_id, revision, ...row }) => [workspace_id, { ...row, revision: BigInt(revision) }]),
  );
};

/**
 * The time of PostgreSQL (ms): whether a month is over does not depend on the machine that asks.
 * @throws ClockUntrusted while the clocks of the servers and of this process differ by more than CLOCK_REFUSE_MS
 */
export const serverNow = async (pool: pg.Pool, clock: TrustedClock): Promise<number> => {
  await clock.now();
  const { rows } = await pool.query<{ now: number }>(
    'select (extract(epoch from clock_timestamp()) * 1000)::float8 as now',
  );
  return Math.floor(rows[0]!.now);
};

@QueryHandler(VerifyLedger)
export class VerifyLedgerHandler implements IQueryHandler<VerifyLedger> {
  constructor(
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(CONFIG) private readonly config: Pick<Config, 'CLOCK_REFUSE_MS' | 'OPERATORS'>,
  ) {}

  /** The fills of test books are corrections that nobody signs. */
  async execute({ workspaceId, livemode, progress }: VerifyLedger): Promise<LedgerVerification> {
    const adjusted: StoredEvent[] = [];
    const books = new VerifiedBooks(null, this.config.CLOCK_REFUSE_MS);
    const visit = (stored: StoredEvent): void => {
      books.see(stored, bookEvent(stored));
      if (livemode && stored.type === 'CreditsAdjusted') adjusted.push(stored);
    };
    if (workspaceId === null)
      await visitLog(this.store, visit, progress, { categories: [booksOf(livemode)] });
    else
      for await (const stored of readStream(this.store, bookStream(workspaceId, livemode), progress))
        visit(stored);
    const { OPERATORS: operators } = this.config;
    const { findings, compensated } = await verifyCorrections(this.store, adjusted, operators);
    return {
      books: books.result().map(({ verifier }) => verifier.report()),
      corrections: findings,
      compensated,
    };
  }
}

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
    const reconciler = new Reconciler(workspaceId, rows, livemode);
    const audit = new LogAudit(this.store, reconciler, null, livemode);
    await audit.read(progress);
    const reconciliation = reconciler.report(settledBefore);
    if (workspaceId !== null || !livemode) return reconciliation;
    const signatures = await verifyCorrections(this.store, audit.corrections, this.config.OPERATORS);
    const differences = [...reconciliation.differences, ...correctionDifferences(signatures)];
    return { ...reconciliation, differences, compensated: signatures.compensated };
  }
}

/** Most differences logged one by one. The reconcile command lists all of them. */
const MOST_ALERTS = 100;
/** How often one worker compares captures, completed readings and balances (ms): finance learns of a difference the same day. */
export const RECONCILE_EVERY_MS = 3_600_000;
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
      [RECONCILE_EVERY_MS / 1_000],
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

const LAST_RUN = `
  select extract(epoch from started_at)::float8 as started, extract(epoch from finished_at)::float8 as finished,
         differences::float8, pending::float8, books::float8
  from billing.reconciliation`;

const GAUGES: Readonly<Record<string, readonly [column: string, help: string]>> = {
  ledger_reconciliation_differences: [
    'differences',
    'Differences the last reconciliation found; anything but 0 is wrong',
  ],
  ledger_reconciliation_pending: ['pending', 'Completed readings still within the grace for their capture'],
  ledger_reconciliation_books: ['books', 'Books the last reconciliation compared'],
  ledger_reconciliation_started_timestamp_seconds: ['started', 'When the last reconciliation started'],
  ledger_reconciliation_finished_timestamp_seconds: [
    'finished',
    'When the last reconciliation finished; absent while it runs',
  ],
};

/** Metrics of the last scheduled reconciliation, the same for every worker. Before the first one, no samples. */
@Injectable()
export class LedgerMetrics {
  constructor(@Inject(POSTGRES) pool: Pool, @Inject(METRICS) registry: Registry) {
    scrapedGauges(
      registry,
      'ledger',
      Object.fromEntries(Object.entries(GAUGES).map(([name, [, help]]) => [name, { help }])),
      async () => {
        const { rows } = await pool.query<Readonly<Record<string, number | null>>>(LAST_RUN);
        return Object.fromEntries(
          Object.entries(GAUGES).map(([name, [column]]) => {
            const value = rows[0]?.[column];
            return [name, typeof value === 'number' ? [{ value }] : []];
          }),
        );
      },
    );
  }
}
