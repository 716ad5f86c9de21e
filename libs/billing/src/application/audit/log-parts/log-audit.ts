import { availableParallelism } from 'node:os';
import { crc32 } from 'node:zlib';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { streamName } from '@app/event-sourcing/core/stream-name.js';
import type { Folded } from '@app/event-sourcing/handling/folded.js';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import type { EventStoreDbOptions } from '@app/event-sourcing/store/eventstoredb.js';
import { reconciliationOf } from '../../../audit/reconcile.js';
import type { BalanceRow } from '../../../audit/book-balances.js';
import { byPosition } from '../../../audit/ledger-difference.js';
import { Settlements } from '../../../audit/settlements.js';
import type { VerifiedBook } from '../../../audit/verified-books.js';
import type { Progress, Reconciliation } from '../../../contracts/audit.js';
import { creditsEvents } from '../../../contracts/events.js';
import type { Credits } from '../../../domain/credits/credits.state.js';
import { factsOfReadings } from './facts-of-readings.js';
import { OwnPart, streamsFor, type LogPart, type PartResult, type PartTask } from './log-part.js';
import { decodedLog, encodedLog, type LogSource } from './log-source.js';
import { ThreadPart } from './thread-part.js';

/** A thread needs a moment to start: a short log is read sooner without. */
const BOOKS_PER_THREAD = 50;
/** One thread reads for all, so more gain nothing. */
const MOST_THREADS = 8;
/** Milliseconds. The parts keep the machine busy, so the reader may wait longer for an answer. */
const READ_TIMEOUT_MS = 10_000;
/** Pages that the parts may still work on while the next one is read. */
const PAGES_AHEAD = 3;

export interface AuditResult {
  readonly verified: readonly VerifiedBook[];
  readonly reconciliation: Reconciliation;
  readonly corrections: readonly StoredEvent[];
}

/**
 * One pass over all books of the log and their readings. It reads the log once and hands each event to the part that has
 * its stream; the answer does not depend on the number of parts.
 */
export class LogAudit<E extends Pick<StoredEvent, 'stream' | 'position'> = StoredEvent> {
  private readonly settlements = new Settlements();
  private reached: bigint | null = null;

  /** @param workspaceId reconciles this one; `null`: all */
  constructor(
    private readonly store: Pick<EventStore, 'head' | 'read'>,
    private readonly source: LogSource<E>,
    private readonly parts: readonly LogPart<E>[],
    private readonly workspaceId: string | null = null,
  ) {}

  /** Reads on, up to the head of the log. Reports progress in positions. @throws StoreUnavailable */
  async read(progress?: Progress): Promise<void> {
    const head = await this.store.head();
    if (head === null) return;
    const underWay: Promise<void>[] = [];
    for await (const page of this.source.pages(this.reached)) {
      const events = page.filter(({ position }) => position <= head);
      const taken = this.take(events);
      // It is awaited later.
      taken.catch(() => undefined);
      underWay.push(taken);
      if (underWay.length > PAGES_AHEAD) await underWay.shift();
      if (events.length < page.length) break;
      progress?.(Number(events.at(-1)?.position ?? head), Number(head));
    }
    await Promise.all(underWay);
    this.reached = head;
    progress?.(Number(head), Number(head));
  }

  /** A book after its last event; `null` when it has to be read again. */
  folded(workspaceId: string): Promise<Folded<Credits> | null> {
    return this.partOf(streamName(creditsEvents.category, workspaceId)).folded(workspaceId);
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
   * All books and the entries of corrections, both in the order of the log, and the reconciliation.
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
    await Promise.all([this.source, ...this.parts].map((one) => one.close()));
  }

  /** Settlements forget the facts of settled readings. */
  private async recall(): Promise<void> {
    const { store, settlements, reached, workspaceId } = this;
    const facts = await factsOfReadings(store, settlements.reopened, reached ?? 0n, workspaceId);
    for (const fact of facts) settlements.recall(fact);
  }

  /** Gives each part its events of a page, and matches what they show. */
  private async take(page: readonly E[]): Promise<void> {
    const shares = new Map<LogPart<E>, E[]>(this.parts.map((part) => [part, []]));
    for (const event of page) shares.get(this.partOf(event.stream))!.push(event);
    await Promise.all(
      [...shares].map(async ([part, events]) => {
        if (events.length === 0) return;
        for (const fact of await part.take(events)) this.settlements.add(fact);
      }),
    );
  }

  private partOf(stream: string): LogPart<E> {
    return this.parts[crc32(stream) % this.parts.length]!;
  }
}

/** An audit, however its events come. */
export type Audit = Pick<LogAudit, keyof LogAudit>;

/**
 * Opens an audit that judges in this thread, or in several others when there are many books.
 * @param books roughly how many there are
 * @param threads most of them; `auto`: as many as cores and books suggest
 * @param connection how a reader for several threads connects
 */
export const auditLog = (
  store: EventStore,
  task: PartTask,
  books: number,
  threads: number | 'auto',
  connection: EventStoreDbOptions,
): Audit => {
  // One core is left to the store, which may be on this machine.
  const suggested = Math.min(MOST_THREADS, availableParallelism() - 1, Math.ceil(books / BOOKS_PER_THREAD));
  const of = threads === 'auto' ? Math.max(1, suggested) : threads;
  const workspaceId = task.reconcile?.workspaceId ?? null;
  const only = streamsFor(task);
  if (of === 1) return new LogAudit(store, decodedLog(store, only), [new OwnPart(task)], workspaceId);
  const patient = { ...connection, readTimeoutMs: Math.max(READ_TIMEOUT_MS, connection.readTimeoutMs) };
  const parts = Array.from({ length: of }, () => new ThreadPart(task));
  return new LogAudit(store, encodedLog(patient, only), parts, workspaceId);
};
