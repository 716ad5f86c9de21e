import type { StoredEvent, Recorded } from '#event-sourcing/core/event.js';
import { decodeOrShow, isOpaque, type OpaqueEvent } from '#event-sourcing/core/event-catalogue.js';
import { categoryOf, streamId } from '#event-sourcing/core/stream-name.js';
import { readingEvents, type ReadingEvent } from '#readings/contracts/index.js';
import type { LedgerDifference, Reconciliation, UnreadableEntry } from '../contracts/audit.js';
import { byPosition, type Missing, Settlements, differenceOf, type Placed } from './settlements.js';
import {
  booksOf,
  type CreditsEvent,
  type CreditsEventOf,
  bookStream,
  type Account,
} from '../contracts/events.js';
import { SETTLEMENT } from '../processes.js';
import { bookEvent, isHidden, sentenceOf, sentenceOfHidden, unreadableEntry } from './book-entry.js';
import type { Balance } from '../contracts/queries.js';
import { balanceIn, emptyAccounts, postings } from '../domain/postings.js';
import { balanceProjection } from '../projections.js';

const foundIn = <T>(placed: readonly Placed<T>[]): T[] =>
  placed.toSorted(byPosition).map(({ found }) => found);

interface Requested {
  readonly workspaceId: string;
  readonly cost: number;
  readonly position: bigint;
}

/**
 * Compares the books of one mode with the balance view, and captures with completed readings. It takes the log in order,
 * and keeps the requested readings in memory until they complete.
 */
export class Reconciler {
  private readonly requested = new Map<string, Requested>();
  /** Readings of the other mode that have not ended. */
  private readonly ofOtherMode = new Set<string>();
  private readonly settlements = new Settlements();
  private readonly balances: BookBalances;
  private readonly category: string;
  private readonly differences: Placed<LedgerDifference>[] = [];
  private readonly setAside: Placed<UnreadableEntry>[] = [];
  /** By workspace: entries of the open month that can be read and are passed over. */
  private readonly hidden = new Map<string, Placed<LedgerDifference>[]>();

  /**
   * @param workspaceId only this one; `null`: all
   * @param rows of the balance view, read before the log
   */
  constructor(
    private readonly workspaceId: string | null,
    rows: ReadonlyMap<string, BalanceRow>,
    private readonly livemode = true,
  ) {
    this.balances = new BookBalances(rows, livemode);
    this.category = booksOf(livemode);
  }

  /** @param bookEntry the event decoded, if it is of a book and the caller has it */
  see(stored: StoredEvent, bookEntry?: Recorded<CreditsEvent> | OpaqueEvent): void {
    const category = categoryOf(stored.stream);
    if (category === readingEvents.category) {
      const event = decodeOrShow(readingEvents, stored);
      if (!isOpaque(event)) this.seeReading(event);
      else if (this.follows(stored.metadata.workspaceId) && this.mayBeOfThisMode(stored))
        this.seeUnreadable(event, stored.metadata.workspaceId);
    }
    if (category !== this.category || !this.follows(streamId(stored.stream))) return;
    const event = bookEntry ?? bookEvent(stored);
    if (isOpaque(event)) return this.seeUnreadable(event, streamId(stored.stream));
    this.balances.see(event);
    // The close carries the book without them.
    if (event.type === 'PeriodClosed') this.hidden.delete(streamId(stored.stream));
    if (event.type === 'CreditsCaptured') this.tellCapture(event);
  }

  /** Takes newer rows of the view, before the rest of the log is read. */
  refresh(rows: ReadonlyMap<string, BalanceRow>): void {
    this.balances.refresh(rows);
  }

  /** @param settledBefore milliseconds: a missing counterpart of a later event is pending, not a difference */
  report(settledBefore: number): Reconciliation {
    const { settlements } = this;
    const view = this.balances.result();
    const judged = settlements.judge();
    const found = [
      ...this.differences,
      ...[...this.hidden.values()].flat(),
      ...view.differences,
      ...judged.differences,
    ];
    const differences = foundIn(found);
    const pending: LedgerDifference[] = [];
    for (const missing of [judged.missing, view.missing])
      for (const { since, difference } of missing.toSorted(byPosition))
        (since === null || since < settledBefore ? differences : pending).push(difference);
    return {
      books: view.books,
      captures: settlements.captures,
      completed: settlements.completed,
      differences,
      pending,
      setAside: foundIn(this.setAside),
      compensated: [],
    };
  }

  private seeReading(event: Recorded<ReadingEvent>): void {
    const readingId = streamId(event.stream);
    const { position } = event;
    if ('livemode' in event.data && event.data.livemode !== this.livemode) {
      if (event.type === 'ReadingRequested') this.ofOtherMode.add(readingId);
      else if (event.type !== 'ReadingDelayed') this.ofOtherMode.delete(readingId);
      return;
    }
    if (event.type === 'ReadingRequested' && this.follows(event.data.workspaceId)) {
      const { workspaceId, cost } = event.data;
      this.requested.set(readingId, { workspaceId, cost, position });
      if (event.revision > 0n) this.settlements.add({ kind: 'ended', readingId, position });
    }
    if (event.type === 'ReadingFailed' || event.type === 'ReadingAbandoned') {
      this.requested.delete(readingId);
      this.settlements.add({ kind: 'ended', readingId, position });
    }
    if (event.type !== 'ReadingCompleted' || !this.follows(event.data.workspaceId)) return;
    const { workspaceId, reservationId } = event.data;
    const request = this.requested.get(readingId);
    this.requested.delete(readingId);
    const isExcused = event.setAside?.consumers?.includes(SETTLEMENT) ?? false;
    if (isExcused)
      this.addSetAside({ opaque: true, stored: event, problem: null, setAside: event.setAside! });
    this.settlements.add({
      kind: 'completed',
      readingId,
      position,
      workspaceId,
      eventId: event.id,
      reservationId,
      at: Date.parse(event.metadata.occurredAt),
      cost: request?.cost ?? null,
      requestedBy: request?.workspaceId ?? workspaceId,
      firstPosition: request?.position ?? position,
      isExcused,
    });
  }

  private tellCapture({ id, stream, position, data }: Recorded<CreditsEventOf<'CreditsCaptured'>>): void {
    const { readingId, causeEventId, reservationId, amount } = data;
    const workspaceId = streamId(stream);
    this.settlements.add({
      kind: 'captured',
      readingId,
      position,
      workspaceId,
      eventId: id,
      causeEventId,
      reservationId,
      amount,
    });
  }

  private seeUnreadable(event: OpaqueEvent, workspaceId: string): void {
    const entry = unreadableEntry(event);
    const { stream, revision, eventId, type } = entry;
    const isCredits = categoryOf(stream) === this.category;
    if (isCredits && isHidden(event)) this.hide(event, workspaceId);
    if (entry.setAside) return this.addSetAside(event);
    const message = `${stream}@${revision} (${type}) ${sentenceOf(entry)}`;
    const ids = isCredits
      ? { creditsEventId: eventId }
      : { readingId: streamId(stream), readingEventId: eventId };
    const found = differenceOf('unreadable', workspaceId, message, ids);
    this.differences.push({ position: event.stored.position, found });
    if (isCredits) this.balances.markUnreadable(workspaceId);
  }

  private hide(event: OpaqueEvent, workspaceId: string): void {
    const { id, stream, revision, position } = event.stored;
    const message = `${stream}@${revision}: ${sentenceOfHidden(event)}`;
    const found = differenceOf('hidden', workspaceId, message, { creditsEventId: id });
    this.hidden.set(workspaceId, [...(this.hidden.get(workspaceId) ?? []), { position, found }]);
  }

  private addSetAside(event: OpaqueEvent): void {
    this.setAside.push({ position: event.stored.position, found: unreadableEntry(event) });
  }

  /** Of an event that cannot be read, the mode may be legible, or that of its reading known. Otherwise both report it. */
  private mayBeOfThisMode({ stream, data }: StoredEvent): boolean {
    if (this.ofOtherMode.has(streamId(stream))) return false;
    const { livemode } = (data ?? {}) as { livemode?: unknown };
    return typeof livemode !== 'boolean' || livemode === this.livemode;
  }

  private follows(workspaceId: string): boolean {
    return this.workspaceId === null || this.workspaceId === workspaceId;
  }
}

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
