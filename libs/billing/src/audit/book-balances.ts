import type { Recorded } from '@app/event-sourcing/core/event.js';
import { streamId } from '@app/event-sourcing/core/stream-name.js';
import type { LedgerDifference } from '../contracts/audit.js';
import type { CreditsEvent, Totals } from '../contracts/events.js';
import type { Balance } from '../contracts/queries.js';
import { balanceOf } from '../domain/credits/balance.js';
import { noBook } from '../domain/credits/credits.state.js';
import { emptyTotals, post, postings } from '../domain/credits/postings.js';
import { differenceOf, type Missing, type Placed } from './ledger-difference.js';

/** A row of the balance view, with the revision of the last event it contains. */
export interface BalanceRow {
  readonly revision: bigint;
  readonly balance: Balance;
}

interface Book {
  totals: Totals;
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
  constructor(rows: ReadonlyMap<string, BalanceRow>) {
    this.rows = new Map(rows);
  }

  see(event: Recorded<CreditsEvent>): void {
    const workspaceId = streamId(event.stream);
    const { id: eventId, revision, position, metadata } = event;
    const head = { eventId, revision, position };
    const book = this.books.get(workspaceId) ?? {
      totals: emptyTotals,
      firstPosition: position,
      openedAt: Date.parse(metadata.occurredAt),
      head,
    };
    this.books.set(workspaceId, book);
    book.totals = post(book.totals, postings(event));
    book.head = head;
    const row = this.rows.get(workspaceId);
    if (row && row.revision < revision) book.unapplied ??= { eventId, occurredAt: metadata.occurredAt };
    if (row?.revision === revision) compare(workspaceId, book, row);
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
      if (row.revision === book.head.revision) compare(workspaceId, book, row);
    }
  }

  result(): { books: number; differences: Placed<LedgerDifference>[]; missing: Missing[] } {
    const differences: Placed<LedgerDifference>[] = [];
    const missing: Missing[] = [];
    for (const [workspaceId, book] of this.books) {
      if (book.differs) differences.push(book.differs);
      const lag = book.isUnreadable ? null : lagOf(workspaceId, book, this.rows.get(workspaceId));
      if (lag) missing.push({ position: book.firstPosition, ...lag });
    }
    return { books: this.books.size, differences, missing };
  }
}

/** Compares a book with its row at the head of what was seen. */
const compare = (workspaceId: string, book: Book, row: BalanceRow): void => {
  const balance = balanceOf({ ...noBook, totals: book.totals });
  const accounts = (Object.keys(balance) as (keyof Balance)[]).filter(
    (account) => balance[account] !== row.balance[account],
  );
  if (accounts.length === 0) return;
  const differing = accounts.map((account) => `${account} ${row.balance[account]}, not ${balance[account]}`);
  const message = `the balance view has at revision ${row.revision} ${differing.join('; ')}`;
  const { eventId: creditsEventId, position } = book.head;
  const found = differenceOf('balance_differs', workspaceId, message, { creditsEventId });
  book.differs = { position, found };
};

/** Nothing deletes a book, so its row was deleted. */
const withoutRow = (workspaceId: string): string =>
  `the balance view has no such book: ops projections replay billing.balance.v1 --stream credits-${workspaceId}`;

const lagOf = (
  workspaceId: string,
  { openedAt, head, unapplied }: Book,
  row: BalanceRow | undefined,
): Omit<Missing, 'position'> | null => {
  const at = { creditsEventId: head.eventId };
  if (!row) {
    const difference = differenceOf('balance_missing', workspaceId, withoutRow(workspaceId), at);
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
};
