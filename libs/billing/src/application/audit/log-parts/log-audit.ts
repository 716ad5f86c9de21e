import { availableParallelism } from 'node:os';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import type { Folded } from '@app/event-sourcing/handling/stream-folder.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import type { EventStoreDbOptions } from '@app/event-sourcing/store/eventstoredb.js';
import type { StreamSelection } from '@app/event-sourcing/store/stream-selection.js';
import { reconciliationOf } from '../../../audit/reconcile.js';
import type { BalanceRow } from '../../../audit/book-balances.js';
import { byPosition } from '../../../audit/ledger-difference.js';
import { Settlements } from '../../../audit/settlements.js';
import type { VerifiedBook } from '../../../audit/verified-books.js';
import type { Progress, Reconciliation } from '../../../contracts/audit.js';
import type { Credits } from '../../../domain/credits/credits.state.js';
import { factsOfReadings } from './facts-of-readings.js';
import { StorePart, type LogPart, type PartReport, type PartResult, type PartTask } from './log-part.js';
import { ThreadPart } from './thread-part.js';

/** A thread needs half a second to start: a short log is read sooner without. */
const BOOKS_PER_THREAD = 50;
/** One event store serves all threads, so more gain nothing. */
const MOST_THREADS = 8;
/** Milliseconds. The readers themselves keep the store busy, so each may wait longer for an answer. */
const READ_TIMEOUT_MS = 10_000;

export interface AuditResult {
  readonly verified: readonly VerifiedBook[];
  readonly reconciliation: Reconciliation;
  readonly corrections: readonly StoredEvent[];
}

type OpenPart = (report: (message: PartReport) => void, part: StreamSelection['part']) => LogPart;

/**
 * One pass over all books of the log and their readings. Its parts are read at the same time; the answer does not depend
 * on their number.
 */
export class LogAudit {
  private readonly settlements = new Settlements();
  private readonly reached: bigint[];
  private readonly parts: readonly LogPart[];
  private onProgress: () => void = () => undefined;
  private head = 0n;

  /**
   * @param of the number of parts
   * @param workspaceId reconciles this one; `null`: all
   */
  constructor(
    private readonly store: Pick<EventStore, 'head' | 'read'>,
    of: number,
    open: OpenPart,
    private readonly workspaceId: string | null = null,
  ) {
    this.reached = Array.from({ length: of }, () => 0n);
    this.parts = this.reached.map((_, index) => open((message) => this.hear(index, message), { index, of }));
  }

  /** Reads on, up to the head of the log. Reports progress in positions. @throws StoreUnavailable */
  async read(progress?: Progress): Promise<void> {
    const head = await this.store.head();
    if (head === null) return;
    this.head = head;
    this.onProgress = () => {
      const sum = this.reached.reduce((total, position) => total + Number(position), 0);
      progress?.(sum / this.parts.length, Number(head));
    };
    await Promise.all(this.parts.map((part) => part.read(head)));
    progress?.(Number(head), Number(head));
  }

  /** A book after its last event; `null` when it has to be read again. */
  async folded(workspaceId: string): Promise<Folded<Credits> | null> {
    for (const part of this.parts) {
      const folded = await part.folded(workspaceId);
      if (folded) return folded;
    }
    return null;
  }

  /** The workspaces of the books that have not closed a month (`yyyy-mm`), without those where something was found. */
  async openUntil(period: string): Promise<readonly string[]> {
    const open = await Promise.all(this.parts.map((part) => part.openUntil(period)));
    return open.flat().toSorted();
  }

  /** Takes newer rows of the balance view, before the rest of the log is read. */
  async refresh(rows: ReadonlyMap<string, BalanceRow>): Promise<void> {
    await Promise.all(this.parts.map((part) => part.refresh(rows)));
  }

  /**
   * All books and the events that concern corrections, both in the order of the log, and the reconciliation.
   * @param settledBefore as in reconciliationOf
   */
  async result(settledBefore: number): Promise<AuditResult> {
    const results: PartResult[] = await Promise.all(this.parts.map((part) => part.result()));
    await this.recall();
    const reconciled = results.flatMap((result) => result.reconciled ?? []);
    return {
      verified: results.flatMap(({ verified }) => verified).sort(byPosition),
      reconciliation: reconciliationOf(reconciled, this.settlements, settledBefore),
      corrections: results.flatMap(({ corrections }) => corrections).sort(byPosition),
    };
  }

  async close(): Promise<void> {
    await Promise.all(this.parts.map((part) => part.close()));
  }

  /** Settlements forget the facts of settled readings. */
  private async recall(): Promise<void> {
    const { store, settlements, head, workspaceId } = this;
    const facts = await factsOfReadings(store, settlements.reopened, head, workspaceId);
    for (const fact of facts) settlements.recall(fact);
  }

  private hear(index: number, { facts, reached }: PartReport): void {
    for (const fact of facts) this.settlements.add(fact);
    this.reached[index] = reached;
    this.onProgress();
  }
}

/**
 * Opens an audit that reads in this thread, or in several others when there are many books.
 * @param books roughly how many there are
 * @param threads most of them; `auto`: as many as cores and books suggest
 * @param connection how each thread connects
 */
export const auditLog = (
  store: EventStore,
  task: PartTask,
  books: number,
  threads: number | 'auto',
  connection: EventStoreDbOptions,
): LogAudit => {
  // One core is left to the store, which may be on this machine.
  const suggested = Math.min(MOST_THREADS, availableParallelism() - 1, Math.ceil(books / BOOKS_PER_THREAD));
  const of = threads === 'auto' ? Math.max(1, suggested) : threads;
  const workspaceId = task.reconcile?.workspaceId ?? null;
  if (of === 1) return new LogAudit(store, 1, (report) => new StorePart(store, task, report), workspaceId);
  const patient = { ...connection, readTimeoutMs: Math.max(READ_TIMEOUT_MS, connection.readTimeoutMs) };
  const open: OpenPart = (report, part) => new ThreadPart({ store: patient, task, part }, report);
  return new LogAudit(store, of, open, workspaceId);
};
