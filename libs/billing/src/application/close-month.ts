import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import type { TrustedClock } from '#event-sourcing/core/clock.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CONFIG, TRUSTED_CLOCK } from '#platform/tokens.js';
import { setTimeout as delay } from 'node:timers/promises';
import { findCheckpoint } from '#event-sourcing/projections/checkpoint.js';
import { correctionDifferences, verifyCorrections } from '../audit/corrections.js';
import { monthOfBooks, monthFiles, signedMonth, sumsOf } from '../audit/month.js';
import { Reconciler } from '../audit/reconcile.js';
import { VerifiedBooks } from '../audit/verify-book.js';
import {
  CloseMonth,
  type CloseMonthResult,
  type LedgerDifference,
  type Reconciliation,
} from '../contracts/audit.js';
import { endOfMonth } from '../domain/calendar.js';
import type { Config } from '../settings.js';
import { balanceRows, LogAudit, serverNow } from './audits.js';
import { balanceProjection } from '../projections.js';
import { CreditBooks, passOverUnreadable } from './credit-books.js';

/** Books that are closed together. */
const AT_ONCE = 16;

@CommandHandler(CloseMonth)
export class CloseMonthHandler implements ICommandHandler<CloseMonth> {
  constructor(
    private readonly creditBooks: CreditBooks,
    @Inject(EVENT_STORE) private readonly store: EventStore,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'CLOCK_REFUSE_MS' | 'OPERATORS'>,
  ) {}

  async execute(command: CloseMonth): Promise<CloseMonthResult> {
    const { period, privateKey: key, graceMs, codes } = command;
    const now = await serverNow(this.pool, this.clock);
    if (now < endOfMonth(period)) return { outcome: 'not_over' };
    let settledBefore = now - graceMs;
    // Reads the view first, so that the log then has everything the view shows.
    const rows = await balanceRows(this.pool, null);
    const verified = new VerifiedBooks(period, this.config.CLOCK_REFUSE_MS);
    const audit = new LogAudit(this.store, new Reconciler(null, rows), verified);
    await audit.read(command.progress);
    const closedNow = await this.close(command, verified.openUntil(period));
    if (closedNow > 0) {
      settledBefore = (await serverNow(this.pool, this.clock)) - graceMs;
      audit.reconciler.refresh(await balanceRows(this.pool, null));
      await audit.read(command.progress);
    }
    const compared = await this.caughtUp(audit, settledBefore, command);
    const signatures = await verifyCorrections(this.store, audit.corrections, this.config.OPERATORS);
    const { compensated } = signatures;
    const reconciliation = { ...compared, compensated };
    const { books, problems, notes } = monthOfBooks(period, verified.result(), compensated, key);
    const { setAside } = reconciliation;
    const differences = [...reconciliation.differences, ...correctionDifferences(signatures)];
    if (problems.length + differences.length > 0)
      return {
        outcome: 'not_right',
        problems,
        differences,
        view: problems.length === 0 && differences.every(isOfView) ? balanceProjection.name : null,
      };
    const files = monthFiles(period, books, reconciliation, notes, codes);
    // Imported only here: only a process that prints needs the compiler and its fonts.
    const { monthPdf } = await import('../statement-pdf/statement-pdf.js');
    files.set('trial-balance.pdf', monthPdf(period, books));
    const { manifest, json, signature } = signedMonth(period, books, reconciliation, notes, files, key);
    files.set('month.json', json).set('month.sig', Buffer.from(`${signature}\n`));
    return { outcome: 'sealed', closedNow, manifest, sums: sumsOf(books), setAside, notes, files };
  }

  /**
   * What was compared, once the balance view has caught up with the books; or after `waitMs`, or when the view has handled
   * the log and still lacks entries. @param settledBefore as in {@link Reconciler.report}
   */
  private async caughtUp(
    audit: LogAudit,
    settledBefore: number,
    { waitMs, progress }: CloseMonth,
  ): Promise<Reconciliation> {
    const until = performance.now() + waitMs;
    const head = await this.store.head();
    for (;;) {
      const compared = audit.reconciler.report(settledBefore);
      const { books, differences } = compared;
      const behind = differences.filter(isOfView).length;
      if (behind === 0 || performance.now() >= until) return compared;
      progress?.(Math.max(0, books - behind), books);
      const position = (await findCheckpoint(this.pool, balanceProjection.name))?.position ?? null;
      const isLast = head !== null && position !== null && position >= head;
      if (!isLast) await delay(Math.min(LOOK_EVERY_MS, Math.max(0, until - performance.now())));
      // The rows first, so that the log then has everything the view shows.
      audit.reconciler.refresh(await balanceRows(this.pool, null));
      await audit.read();
      if (isLast) return audit.reconciler.report(settledBefore);
    }
  }

  /** Closes the books of these workspaces, which the log shows to be open. @returns how many */
  private async close({ by, progress }: CloseMonth, open: readonly string[]): Promise<number> {
    for (let done = 0; done < open.length; done += AT_ONCE) {
      progress?.(done, open.length);
      const some = open.slice(done, done + AT_ONCE);
      // One that cannot be read is found again as a book that does not verify.
      await Promise.all(some.map((id) => this.creditBooks.recordDue(id, by()).catch(passOverUnreadable)));
    }
    return open.length;
  }
}

/** Milliseconds between two looks at the view. */
const LOOK_EVERY_MS = 500;

/** Whether a difference only says that the view is behind a book or lacks it. */
const isOfView = ({ kind }: Pick<LedgerDifference, 'kind'>): boolean =>
  kind === 'balance_behind' || kind === 'balance_missing';
