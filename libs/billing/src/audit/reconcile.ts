import type { StoredEvent, Recorded } from '#event-sourcing/core/event.js';
import { decodeOrShow, isOpaque, type OpaqueEvent } from '#event-sourcing/core/event-catalogue.js';
import { categoryOf, streamId } from '#event-sourcing/core/stream-name.js';
import { readingEvents, type ReadingEvent } from '#readings/contracts/index.js';
import type { LedgerDifference, Reconciliation, UnreadableEntry } from '../contracts/audit.js';
import {
  booksOf,
  type CreditsEvent,
  type CreditsEventOf,
  bookStream,
  type Account,
} from '../contracts/events.js';
import { SETTLEMENT } from '../processes.js';
import { bookEvent, isHidden, sentenceOf, sentenceOfHidden, unreadableEntry } from './book-entry.js';
import type { Balance } from '../contracts/messages.js';
import { balanceIn, emptyAccounts, postings } from '../domain/postings.js';
import { balanceProjection } from '../projections.js';

/** Something found, and the position in the log where it shows. */
interface Placed<T> {
  readonly position: bigint;
  readonly found: T;
}

export const byPosition = (a: { readonly position: bigint }, b: { readonly position: bigint }): number =>
  a.position < b.position ? -1 : a.position > b.position ? 1 : 0;

const foundIn = <T>(placed: readonly Placed<T>[]): T[] =>
  placed.toSorted(byPosition).map(({ found }) => found);

/** What the log lacks at its end. It is pending while it is young. */
interface Missing {
  /** Position of the book's or the reading's first event: reports are in this order. */
  readonly position: bigint;
  /** Milliseconds: since when. `null`: it is a difference at any age. */
  readonly since: number | null;
  readonly difference: LedgerDifference;
}

type Ids = Partial<Pick<LedgerDifference, 'readingId' | 'creditsEventId' | 'readingEventId'>>;

export const differenceOf = (
  kind: LedgerDifference['kind'],
  workspaceId: string,
  message: string,
  ids: Ids,
): LedgerDifference => {
  const none = { readingId: null, creditsEventId: null, readingEventId: null };
  return { kind, workspaceId, ...none, ...ids, message };
};

interface Requested {
  readonly workspaceId: string;
  readonly cost: number;
  readonly position: bigint;
}

interface Completed {
  readonly eventId: string;
  readonly reservationId: string;
  /** Milliseconds. */
  readonly at: number;
  /** `null`: the log has no request. */
  readonly cost: number | null;
  /** As the request names it. */
  readonly requestedBy: string;
  /** Position of the request, or of the completion without one. */
  readonly position: bigint;
  /** Its settlement is passed over by an operator's decision. */
  readonly isExcused: boolean;
}

/**
 * Compares the books of one mode with the balance view, and captures with completed readings. It takes the log in order,
 * and keeps the requested readings in memory until they complete. Of readings whose capture agrees it keeps two ids.
 */
export class Reconciler {
  private readonly requested = new Map<string, Requested>();
  /** Completed and not captured, by reading. */
  private readonly open = new Map<string, Completed>();
  /** Event ids of a completion and of its first capture, by reading. */
  private readonly settled = new Map<string, readonly [completed: string, captured: string]>();
  private captures = 0;
  private completed = 0;
  /** Readings of the other mode that have not ended. */
  private readonly ofOtherMode = new Set<string>();
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
    if (event.type === 'CreditsCaptured') this.seeCapture(event);
  }

  /** Takes newer rows of the view, before the rest of the log is read. */
  refresh(rows: ReadonlyMap<string, BalanceRow>): void {
    this.balances.refresh(rows);
  }

  /** @param settledBefore milliseconds: a missing counterpart of a later event is pending, not a difference */
  report(settledBefore: number): Reconciliation {
    const view = this.balances.result();
    const differences = foundIn([
      ...this.differences,
      ...[...this.hidden.values()].flat(),
      ...view.differences,
    ]);
    const pending: LedgerDifference[] = [];
    for (const missing of [this.notCaptured(), view.missing])
      for (const { since, difference } of missing.toSorted(byPosition))
        (since === null || since < settledBefore ? differences : pending).push(difference);
    const { captures, completed } = this;
    const setAside = foundIn(this.setAside);
    return { books: view.books, captures, completed, differences, pending, setAside, compensated: [] };
  }

  private notCaptured(): Missing[] {
    return [...this.open].flatMap(([readingId, { position, at, requestedBy, eventId, isExcused }]) => {
      if (isExcused) return [];
      const message = 'the reading is completed, but no credits were captured for it';
      const ids = { readingId, readingEventId: eventId };
      return [{ position, since: at, difference: differenceOf('not_captured', requestedBy, message, ids) }];
    });
  }

  private seeReading(event: Recorded<ReadingEvent>): void {
    const readingId = streamId(event.stream);
    const { id: eventId, position, metadata } = event;
    if ('livemode' in event.data && event.data.livemode !== this.livemode) {
      if (event.type === 'ReadingRequested') this.ofOtherMode.add(readingId);
      else if (event.type !== 'ReadingDelayed') this.ofOtherMode.delete(readingId);
      return;
    }
    if (event.type === 'ReadingRequested' && this.follows(event.data.workspaceId)) {
      const { workspaceId, cost } = event.data;
      this.requested.set(readingId, { workspaceId, cost, position });
      if (event.revision > 0n) this.startAgain(readingId);
    }
    // An abandoned reservation is never that of the request.
    if (event.type === 'ReadingFailed') {
      this.requested.delete(readingId);
      this.startAgain(readingId);
    }
    if (event.type !== 'ReadingCompleted' || !this.follows(event.data.workspaceId)) return;
    const { workspaceId, reservationId } = event.data;
    const request = this.requested.get(readingId);
    this.requested.delete(readingId);
    this.completed += 1;
    const isExcused = event.setAside?.consumers?.includes(SETTLEMENT) ?? false;
    if (isExcused)
      this.addSetAside({ opaque: true, stored: event, problem: null, setAside: event.setAside! });
    const before = this.open.get(readingId);
    if (before) this.open.set(readingId, { ...before, isExcused: before.isExcused || isExcused });
    if (before || this.settled.has(readingId)) {
      const ids = { readingId, readingEventId: eventId };
      return this.differ(position, 'completed_twice', workspaceId, 'the reading was completed before', ids);
    }
    this.open.set(readingId, {
      eventId,
      reservationId,
      at: Date.parse(metadata.occurredAt),
      cost: request?.cost ?? null,
      requestedBy: request?.workspaceId ?? workspaceId,
      position: request?.position ?? position,
      isExcused,
    });
  }

  /** The reading failed, or was requested again: what was before no longer counts. */
  private startAgain(readingId: string): void {
    this.open.delete(readingId);
    this.settled.delete(readingId);
  }

  private seeCapture({ id, stream, position, data }: Recorded<CreditsEventOf<'CreditsCaptured'>>): void {
    const { readingId, causeEventId, reservationId, amount } = data;
    const workspaceId = streamId(stream);
    this.captures += 1;
    const completed = this.open.get(readingId);
    const [completedId, capturedId] = this.settled.get(readingId) ?? [];
    const readingEventId = completed?.eventId ?? completedId ?? causeEventId;
    const differs = (kind: LedgerDifference['kind'], message: string): void =>
      this.differ(position, kind, workspaceId, message, { readingId, creditsEventId: id, readingEventId });
    if (capturedId !== undefined)
      return differs('captured_twice', `credits were captured before, by event ${capturedId}`);
    if (!completed)
      return differs('not_completed', 'credits were captured for a reading that is not completed');
    this.open.delete(readingId);
    this.settled.set(readingId, [completed.eventId, id]);
    const { cost } = completed;
    if (completed.eventId !== causeEventId)
      differs('fields_differ', 'the capture names another event as its cause');
    if (completed.reservationId !== reservationId)
      differs('fields_differ', 'the reservations are not the same');
    if (completed.requestedBy !== workspaceId) differs('fields_differ', 'the workspaces are not the same');
    if (cost !== null && cost !== amount)
      differs('fields_differ', `${amount} credits were captured, the reading costs ${cost}`);
  }

  private differ(position: bigint, ...difference: Parameters<typeof differenceOf>): void {
    this.differences.push({ position, found: differenceOf(...difference) });
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
    this.differ(event.stored.position, 'unreadable', workspaceId, message, ids);
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
class BookBalances {
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
