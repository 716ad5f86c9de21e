import type { StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf } from '#event-sourcing/core/stream-name.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { readingEvents } from '#readings/contracts/index.js';
import type pg from 'pg';
import type { TrustedClock } from '#event-sourcing/core/clock.js';
import type { BalanceRow, Reconciler } from '../audit/reconcile.js';
import { isCorrection } from '../audit/corrections.js';
import { bookEvent } from '../audit/book-entry.js';
import type { VerifiedBooks } from '../audit/verified-books.js';
import type { Progress } from '../contracts/audit.js';
import { booksOf } from '../contracts/events.js';
import { visitLog } from './read.js';
import { modeOf } from '../projections.js';

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
  const { rows } = await pool.query<Record<string, string>>(
    `select workspace_id, revision::text, available::text, held::text, consumed::text, expired::text,
            granted::text, adjusted::text
     from billing.balance where ($1::text is null or workspace_id = $1) and mode = $2`,
    [workspaceId, modeOf(livemode)],
  );
  return new Map(rows.map((row) => [row['workspace_id']!, rowOf(row)]));
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
