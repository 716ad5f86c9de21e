import type { KeyObject } from 'node:crypto';
import { decode } from '@app/event-sourcing/core/event-catalogue.js';
import { isSetAside, type StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf, streamId } from '@app/event-sourcing/core/stream-name.js';
import { creditsEvents } from '../contracts/events.js';
import type { MonthBook, MonthProblem, MonthSale } from '../contracts/month.js';
import { sealOf } from './seal.js';
import { BookVerifier } from './verify-book.js';

interface Book {
  readonly verifier: BookVerifier;
  readonly sales: MonthSale[];
  /** Month of the book's opening. */
  opened: string;
  sealed?: MonthBook;
}

/** Verifies all books of the log, and seals one month of each as soon as its part of the stream has verified. */
export class MonthBooks {
  private readonly books = new Map<string, Book>();

  constructor(
    private readonly period: string,
    private readonly key: KeyObject,
    /** CLOCK_REFUSE_MS */
    private readonly boundMs?: number,
  ) {}

  see(stored: StoredEvent): void {
    if (categoryOf(stored.stream) !== creditsEvents.category) return;
    const book = this.books.get(stored.stream) ?? {
      verifier: new BookVerifier(stored.stream, undefined, this.boundMs),
      sales: [],
      opened: '',
    };
    this.books.set(stored.stream, book);
    const month = book.verifier.period;
    book.verifier.see(stored);
    if (book.verifier.hasFindings || isSetAside(stored)) return;
    if (stored.type === 'BookOpened') book.opened = book.verifier.period;
    if (stored.type === 'PeriodClosed' && month === this.period) this.seal(book, stored);
    if (month !== this.period) return;
    if (stored.type === 'PlanGranted' || stored.type === 'PackPurchased') book.sales.push(saleOf(stored));
  }

  /** Sealed books, and why others are not. A book that was opened after the month is neither. */
  result(): { books: readonly MonthBook[]; problems: readonly MonthProblem[] } {
    const problems: MonthProblem[] = [];
    const books: MonthBook[] = [];
    for (const [stream, { verifier, opened, sealed }] of this.books) {
      const workspaceId = streamId(stream);
      const [finding] = verifier.report().findings;
      if (finding) {
        const { revision, message } = finding;
        problems.push({ workspaceId, revision, message: `does not verify: ${message}` });
      } else if (sealed) books.push(sealed);
      else if (opened <= this.period)
        problems.push({ workspaceId, revision: null, message: `the month ${this.period} is not closed` });
    }
    const byWorkspace = (a: MonthBook, b: MonthBook): number =>
      a.seal.workspaceId < b.seal.workspaceId ? -1 : 1;
    return { books: books.sort(byWorkspace), problems };
  }

  private seal(book: Book, stored: StoredEvent): void {
    const event = decode(creditsEvents, stored);
    const money = book.verifier.money.closedMonth;
    if (event.type !== 'PeriodClosed' || money === null) return;
    const { opening, totals } = event.data;
    book.sealed = { seal: sealOf(event, money, this.key), opening, totals, sales: book.sales };
  }
}

const saleOf = (stored: StoredEvent): MonthSale => {
  const { grantId, priceCents } = stored.data as { grantId: string; priceCents: number };
  const kind = stored.type === 'PlanGranted' ? 'plan' : 'pack';
  return { grantId, kind, at: stored.metadata.occurredAt, cents: priceCents };
};
