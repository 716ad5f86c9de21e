import type { Recorded } from '#event-sourcing/core/event.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import type { LedgerDifference } from '../contracts/audit.js';
import type { Balance } from '../contracts/queries.js';
import { bookStream, type Account, type CreditsEvent } from '../contracts/events.js';
import { balanceIn } from '../domain/credits/balance.js';
import { emptyAccounts, postings } from '../domain/credits/postings.js';
import { balanceProjection } from '../read-models/balance/balance.projection.js';
import { differenceOf, type Missing, type Placed } from './ledger-difference.js';

/** A row of the balance view, with the revision of the last event it contains. */
export interface BalanceRow {
  readonly revision: bigint;
  readonly balance: Balance;
}

interface Book {
  /** Credits by account: the sum of all postings so far. */
  readonly sums: Record<Account, number>;
  readonly firstPosition: bigint;
  /** Milliseconds. */
  readonly openedAt: number;
  head: { readonly eventId: string; readonly revision: bigint; readonly position: bigint };
  /** It has an entry that cannot be read: its balance is not known. */
  isUnreadable?: boolean;
  /** The balance view's row differs. */
  differs?: Placed<LedgerDifference> | undefined;
  /** The oldest event that the balance view's row does not contain yet. */
  unapplied?: { readonly eventId: string; readonly occurredAt: string } | undefined;
}

/**
 * Compares books with the balance view: each at the revision of its row, which may be behind the book only within the
 * grace.
 */
export class BookBalances {
  private readonly books = new Map<string, Book>();
  private readonly rows: Map<string, BalanceRow>;

  /** @param rows read before the log, by workspace */
  constructor(
    rows: ReadonlyMap<string, BalanceRow>,
    private readonly livemode: boolean,
  ) {
    this.rows = new Map(rows);
  }

  see(event: Recorded<CreditsEvent>): void {
    const workspaceId = streamId(event.stream);
    const { id: eventId, revision, position, metadata } = event;
    const head = { eventId, revision, position };
    const book = this.books.get(workspaceId) ?? {
      sums: { ...emptyAccounts },
      firstPosition: position,
      openedAt: Date.parse(metadata.occurredAt),
      head,
    };
    this.books.set(workspaceId, book);
    for (const { account, amount } of postings(event)) book.sums[account] += amount;
    book.head = head;
    const row = this.rows.get(workspaceId);
    if (row && row.revision < revision) book.unapplied ??= { eventId, occurredAt: metadata.occurredAt };
    if (row?.revision === revision) this.compare(workspaceId, book, row);
  }

  markUnreadable(workspaceId: string): void {
    const book = this.books.get(workspaceId);
    if (book) book.isUnreadable = true;
  }

  /** Takes the rows that have reached what was seen so far. The others stay as they were when the reading began. */
  refresh(rows: ReadonlyMap<string, BalanceRow>): void {
    for (const [workspaceId, row] of rows) {
      const book = this.books.get(workspaceId);
      if (book && row.revision < book.head.revision) continue;
      this.rows.set(workspaceId, row);
      if (!book) continue;
      [book.differs, book.unapplied] = [undefined, undefined];
      if (row.revision === book.head.revision) this.compare(workspaceId, book, row);
    }
  }

  result(): { books: number; differences: Placed<LedgerDifference>[]; missing: Missing[] } {
    const differences: Placed<LedgerDifference>[] = [];
    const missing: Missing[] = [];
    for (const [workspaceId, book] of this.books) {
      if (book.differs) differences.push(book.differs);
      const lag = book.isUnreadable ? null : this.lagOf(workspaceId, book);
      if (lag) missing.push({ position: book.firstPosition, ...lag });
    }
    return { books: this.books.size, differences, missing };
  }

  /** Compares a book with its row at the head of what was seen. */
  private compare(workspaceId: string, book: Book, row: BalanceRow): void {
    const inRow = new Map(Object.entries(row.balance));
    const differing = Object.entries(balanceIn(book.sums)).flatMap(([account, credits]) =>
      inRow.get(account) === credits ? [] : [`${account} ${inRow.get(account)}, not ${credits}`],
    );
    if (differing.length === 0) return;
    const message = `the balance view has at revision ${row.revision} ${differing.join('; ')}`;
    const { eventId: creditsEventId, position } = book.head;
    const found = differenceOf('balance_differs', workspaceId, message, { creditsEventId });
    book.differs = { position, found };
  }

  private lagOf(workspaceId: string, { openedAt, head, unapplied }: Book): Omit<Missing, 'position'> | null {
    const row = this.rows.get(workspaceId);
    const at = { creditsEventId: head.eventId };
    if (!row) {
      const difference = differenceOf('balance_missing', workspaceId, this.withoutRow(workspaceId), at);
      return { since: openedAt, difference };
    }
    if (row.revision > head.revision) {
      const message = `the balance view is at revision ${row.revision}, the book ends at ${head.revision}`;
      return { since: null, difference: differenceOf('balance_differs', workspaceId, message, at) };
    }
    if (!unapplied) return null;
    const { eventId: creditsEventId, occurredAt } = unapplied;
    const message = `the balance view is at revision ${row.revision}, the book is at ${head.revision} and continued at ${occurredAt}`;
    const difference = differenceOf('balance_behind', workspaceId, message, { creditsEventId });
    return { since: Date.parse(occurredAt), difference };
  }

  /** Nothing deletes a book, so its row was deleted. */
  private withoutRow(workspaceId: string): string {
    const stream = bookStream(workspaceId, this.livemode);
    return `the balance view has no such book: ops projections replay ${balanceProjection.name} --stream ${stream}`;
  }
}
