import type { StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf, streamName } from '#event-sourcing/core/stream-name.js';
import type { Folded } from '#event-sourcing/commands/stream-folder.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { readingEvents } from '#readings/contracts/index.js';
import type pg from 'pg';
import type { TrustedClock } from '#event-sourcing/core/clock.js';
import { type BalanceRow, ReconcilePart, reconciliationOf } from '../audit/reconcile.js';
import { isCorrection } from '../audit/corrections.js';
import { byPosition, Settlements, type ReadingFact } from '../audit/settlements.js';
import { bookEvent } from '../audit/book-entry.js';
import { VerifiedBooks, type VerifiedBook } from '../audit/verified-books.js';
import type { Progress, Reconciliation } from '../contracts/audit.js';
import { booksOf, bookStream } from '../contracts/events.js';
import type { Credits } from '../domain/credits.state.js';
import { visitLog } from './read.js';
import { modeOf } from '../projections.js';

export interface AuditTask {
  /** Verify the books, and take a month of each (`yyyy-mm`). `boundMs` is CLOCK_REFUSE_MS. `null`: only reconcile. */
  readonly verify: { readonly period: string; readonly boundMs: number } | null;
  readonly workspaceId: string | null;
  readonly rows: ReadonlyMap<string, BalanceRow>;
  readonly livemode?: boolean;
}

export interface AuditResult {
  readonly verified: readonly VerifiedBook[];
  readonly reconciliation: Reconciliation;
  readonly corrections: readonly StoredEvent[];
}

/** One pass over all books of the log and their readings. */
export class LogAudit {
  private readonly settlements = new Settlements();
  private readonly books: VerifiedBooks | null;
  private readonly reconcile: ReconcilePart;
  private readonly corrections: StoredEvent[] = [];
  private readonly livemode: boolean;
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

  async result(settledBefore: number): Promise<AuditResult> {
    const { store, settlements, reached, task, livemode } = this;
    // Settlements forget the facts of settled readings.
    const { workspaceId } = task;
    const facts = await factsOfReadings(store, settlements.reopened, reached ?? 0n, workspaceId, livemode);
    for (const fact of facts) settlements.recall(fact);
    return {
      verified: (this.books?.result() ?? []).toSorted(byPosition),
      reconciliation: reconciliationOf(this.reconcile.result(), settlements, settledBefore),
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

/**
 * The facts of some readings, from their own streams and from the books of the workspaces that completed them.
 * @param upTo position of the last event that counts
 * @param workspaceId only facts of this one; `null`: of all
 */
export const factsOfReadings = async (
  store: Pick<EventStore, 'read'>,
  readingIds: ReadonlySet<string>,
  upTo: bigint,
  workspaceId: string | null,
  livemode: boolean,
): Promise<readonly ReadingFact[]> => {
  const facts: ReadingFact[] = [];
  const part = new ReconcilePart(
    workspaceId,
    new Map(),
    (fact) => {
      if (readingIds.has(fact.readingId)) facts.push(fact);
    },
    livemode,
  );
  for (const readingId of readingIds)
    for await (const event of store.read(streamName(readingEvents.category, readingId)))
      if (event.position <= upTo) part.see(event);
  const workspaces = new Set(facts.flatMap((fact) => (fact.kind === 'completed' ? [fact.workspaceId] : [])));
  for (const workspace of workspaces)
    for await (const event of store.read(bookStream(workspace, livemode)))
      if (event.type === 'CreditsCaptured' && event.position <= upTo) part.see(event);
  return facts;
};

/** Books in one query: more would hold their rows twice. */
const PAGE = 1_000;

/** The balance view of one workspace or of all (`null`), by workspace. One query for each page of books. */
export const balanceRows = async (
  pool: pg.Pool,
  workspaceId: string | null,
  livemode = true,
): Promise<Map<string, BalanceRow>> => {
  const found = new Map<string, BalanceRow>();
  for (let last = ''; ;) {
    const { rows } = await pool.query<Record<string, string>>(
      `select workspace_id, revision::text, available::text, held::text, consumed::text, expired::text,
              granted::text, adjusted::text
       from billing.balance
       where ($1::text is null or workspace_id = $1) and workspace_id > $2 and mode = $4
       order by workspace_id limit $3`,
      [workspaceId, last, PAGE, modeOf(livemode)],
    );
    for (const row of rows) found.set(row['workspace_id']!, rowOf(row));
    if (rows.length < PAGE) return found;
    last = rows.at(-1)!['workspace_id']!;
  }
};

const rowOf = (row: Readonly<Record<string, string>>): BalanceRow => ({
  revision: BigInt(row['revision']!),
  balance: {
    available: Number(row['available']),
    held: Number(row['held']),
    consumed: Number(row['consumed']),
    expired: Number(row['expired']),
    granted: Number(row['granted']),
    adjusted: Number(row['adjusted']),
  },
});

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
