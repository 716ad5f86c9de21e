import type { StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf } from '#event-sourcing/core/stream-name.js';
import type { Folded } from '#event-sourcing/handling/folded.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { readingEvents } from '#readings/contracts/index.js';
import type { BalanceRow } from '../../audit/book-balances.js';
import { isCorrection } from '../../audit/corrections.js';
import { byPosition } from '../../audit/ledger-difference.js';
import { ReconcilePart } from '../../audit/reconcile-part.js';
import { reconciliationOf } from '../../audit/reconcile.js';
import { Settlements } from '../../audit/settlements.js';
import { bookEvent } from '../../audit/unreadable-entry.js';
import { VerifiedBooks, type VerifiedBook } from '../../audit/verified-books.js';
import type { Progress, Reconciliation } from '../../contracts/audit.js';
import { booksOf, bookStream } from '../../contracts/events.js';
import type { Credits } from '../../domain/credits/credits.state.js';
import { factsOfReadings } from './facts-of-readings.js';
import { visitLog } from './read.js';

export interface AuditTask {
  /** Verify the books, and take a month of each (`yyyy-mm`). `boundMs` is CLOCK_REFUSE_MS. `null`: only reconcile. */
  readonly verify: { readonly period: string; readonly boundMs: number } | null;
  /** Reconciles one workspace; `null`: all. */
  readonly workspaceId: string | null;
  /** Rows of the balance view, read before the log. */
  readonly rows: ReadonlyMap<string, BalanceRow>;
  /** Of the books and readings; `true` without it. */
  readonly livemode?: boolean;
}

export interface AuditResult {
  /** In the order of the log. */
  readonly verified: readonly VerifiedBook[];
  readonly reconciliation: Reconciliation;
  /** The entries of corrections, in the order of the log. */
  readonly corrections: readonly StoredEvent[];
}

/** One pass over all books of the log and their readings. */
export class LogAudit {
  private readonly settlements = new Settlements();
  private readonly books: VerifiedBooks | null;
  private readonly reconcile: ReconcilePart;
  private readonly corrections: StoredEvent[] = [];
  private readonly livemode: boolean;
  /** Of the books. */
  private readonly category: string;
  private reached: bigint | null = null;

  constructor(
    private readonly store: Pick<EventStore, 'head' | 'read' | 'readAll'>,
    private readonly task: AuditTask,
  ) {
    const { verify, workspaceId, rows, livemode = true } = task;
    this.livemode = livemode;
    this.category = booksOf(livemode);
    this.books = verify && new VerifiedBooks(verify.period, verify.boundMs);
    this.reconcile = new ReconcilePart(workspaceId, rows, (fact) => this.settlements.add(fact), livemode);
  }

  /** Reads on, up to the head of the log. Reports progress in positions. @throws StoreUnavailable */
  async read(progress?: Progress): Promise<void> {
    const only = { categories: [this.category, readingEvents.category] };
    this.reached = await visitLog(this.store, (event) => this.see(event), progress, only, this.reached);
  }

  /** A book after its last event; `null` when it has to be read again. */
  folded(workspaceId: string): Folded<Credits> | null {
    return this.books?.folded(bookStream(workspaceId, this.livemode)) ?? null;
  }

  /** The workspaces of the books that have not closed a month (`yyyy-mm`), without those where something was found. */
  openUntil(period: string): readonly string[] {
    return (this.books?.openUntil(period) ?? []).toSorted();
  }

  /** Takes newer rows of the balance view, before the rest of the log is read. */
  refresh(rows: ReadonlyMap<string, BalanceRow>): void {
    this.reconcile.refresh(rows);
  }

  /** @param settledBefore as in reconciliationOf */
  async result(settledBefore: number): Promise<AuditResult> {
    const { store, settlements, reached, task, livemode } = this;
    // Settlements forget the facts of settled readings.
    const { workspaceId } = task;
    const facts = await factsOfReadings(store, settlements.reopened, reached ?? 0n, workspaceId, livemode);
    for (const fact of facts) settlements.recall(fact);
    return {
      verified: (this.books?.result() ?? []).toSorted(byPosition),
      reconciliation: reconciliationOf([this.reconcile.result()], settlements, settledBefore),
      corrections: this.corrections,
    };
  }

  private see(stored: StoredEvent): void {
    if (isCorrection(stored)) this.corrections.push(stored);
    if (categoryOf(stored.stream) !== this.category) {
      this.reconcile.see(stored);
      return;
    }
    // Decoding costs as much as judging: once for both.
    const event = bookEvent(stored);
    this.books?.see(stored, event);
    this.reconcile.see(stored, event);
  }
}
