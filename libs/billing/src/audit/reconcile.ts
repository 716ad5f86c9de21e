import { decodeOrShow, isOpaque, type OpaqueEvent } from '@app/event-sourcing/core/event-catalogue.js';
import type { Recorded, StoredEvent } from '@app/event-sourcing/core/event.js';
import { categoryOf, streamId } from '@app/event-sourcing/core/stream-name.js';
import { readingEvents, type ReadingEvent } from '@app/readings/contracts/index.js';
import type { LedgerDifference, Reconciliation } from '../contracts/audit.js';
import type { UnreadableEntry } from '../contracts/unreadable-entry.js';
import { creditsEvents, type CreditsEvent, type CreditsEventOf, type Totals } from '../contracts/events.js';
import type { Balance } from '../contracts/queries.js';
import { balanceOf } from '../domain/credits/balance.js';
import { noBook } from '../domain/credits/credits.state.js';
import { emptyTotals, post, postings } from '../domain/credits/postings.js';
import { bookEvent, sentenceOf, unreadableEntry } from './unreadable-entry.js';

/** A row of the balance view, with the revision of the last event it contains. */
export interface BalanceRow {
  readonly revision: bigint;
  readonly balance: Balance;
}

/** The process that captures: a reading that it passes over is not captured. */
export const SETTLEMENT = 'billing.settlement.v1';

interface Reading {
  readonly workspaceId: string;
  readonly cost: number | null;
  completed?: { eventId: string; reservationId: string; at: number };
  /** Its settlement is passed over by an operator's decision. */
  isExcused?: boolean;
  captureEventId?: string;
}

interface Book {
  totals: Totals;
  readonly openedAt: number;
  headEventId: string;
  headRevision: bigint;
  /** It has an entry that cannot be read: its balance is not known. */
  isUnreadable?: boolean;
  /** The oldest event that the balance view's row does not contain yet. */
  unapplied?: { readonly eventId: string; readonly occurredAt: string };
}

/**
 * Compares three records of the same credits in one pass over the log: captures, ReadingCompleted events, and the
 * balance view. The view is compared at its own revision, and may be behind the book only within the grace. Keeps one
 * entry of ids per reading in memory.
 */
export class Reconciler {
  private readonly readings = new Map<string, Reading>();
  private readonly books = new Map<string, Book>();
  private readonly differences: LedgerDifference[] = [];
  private readonly quarantined: UnreadableEntry[] = [];
  private captures = 0;
  private completed = 0;

  /** @param rows read before the log, by workspace */
  constructor(
    private readonly workspaceId: string | null,
    private readonly rows: ReadonlyMap<string, BalanceRow>,
  ) {}

  see(stored: StoredEvent): void {
    const category = categoryOf(stored.stream);
    if (category === readingEvents.category) {
      const event = decodeOrShow(readingEvents, stored);
      if (!isOpaque(event)) this.seeReading(event);
      else if (this.follows(stored.metadata.workspaceId))
        this.seeUnreadable(event, stored.metadata.workspaceId);
    }
    if (category === creditsEvents.category && this.follows(streamId(stored.stream))) {
      const event = bookEvent(stored);
      if (!isOpaque(event)) this.seeBook(event);
      else this.seeUnreadable(event, streamId(stored.stream));
    }
  }

  private seeUnreadable(event: OpaqueEvent, workspaceId: string): void {
    const entry = unreadableEntry(event);
    if (entry.quarantine) {
      this.quarantined.push(entry);
      return;
    }
    const { stream, revision, eventId, type } = entry;
    const message = `${stream}@${revision} (${type}) ${sentenceOf(entry)}`;
    const isCredits = categoryOf(stream) === creditsEvents.category;
    this.differences.push(
      difference(
        'unreadable',
        workspaceId,
        message,
        isCredits ? { creditsEventId: eventId } : { readingId: streamId(stream), readingEventId: eventId },
      ),
    );
    const book = isCredits && this.books.get(workspaceId);
    if (book) book.isUnreadable = true;
  }

  /** @param settledBefore milliseconds: a missing counterpart of a later event is pending, not a difference */
  report(settledBefore: number): Reconciliation {
    const pending: LedgerDifference[] = [];
    const missing = (at: number, difference: LedgerDifference): void => {
      (at < settledBefore ? this.differences : pending).push(difference);
    };
    for (const [readingId, { workspaceId, completed, captureEventId, isExcused }] of this.readings) {
      if (!completed || captureEventId || isExcused) continue;
      const message = 'the reading is completed, but no credits were captured for it';
      missing(
        completed.at,
        difference('not_captured', workspaceId, message, { readingId, readingEventId: completed.eventId }),
      );
    }
    for (const [workspaceId, { openedAt, headEventId, headRevision, unapplied, isUnreadable }] of this
      .books) {
      if (isUnreadable) continue;
      const row = this.rows.get(workspaceId);
      const at = { creditsEventId: headEventId };
      if (!row) {
        missing(openedAt, difference('balance_missing', workspaceId, withoutRow(workspaceId), at));
      } else if (row.revision > headRevision) {
        const message = `the balance view is at revision ${row.revision}, the book ends at ${headRevision}`;
        this.differences.push(difference('balance_differs', workspaceId, message, at));
      } else if (unapplied) {
        const { eventId: creditsEventId, occurredAt } = unapplied;
        const message = `the balance view is at revision ${row.revision}, the book is at ${headRevision} and continued at ${occurredAt}`;
        missing(
          Date.parse(occurredAt),
          difference('balance_behind', workspaceId, message, { creditsEventId }),
        );
      }
    }
    const { captures, completed, differences, quarantined } = this;
    return { books: this.books.size, captures, completed, differences, pending, quarantined };
  }

  private follows(workspaceId: string): boolean {
    return this.workspaceId === null || this.workspaceId === workspaceId;
  }

  private seeReading(event: Recorded<ReadingEvent>): void {
    const readingId = streamId(event.stream);
    if (event.type === 'ReadingRequested' && this.follows(event.data.workspaceId)) {
      this.readings.set(readingId, { workspaceId: event.data.workspaceId, cost: event.data.cost });
    }
    if (event.type === 'ReadingFailed' || event.type === 'ReadingAbandoned') this.readings.delete(readingId);
    if (event.type !== 'ReadingCompleted' || !this.follows(event.data.workspaceId)) return;
    this.completed += 1;
    const { workspaceId, reservationId } = event.data;
    const reading: Reading = this.readings.get(readingId) ?? { workspaceId, cost: null };
    if (event.quarantine?.consumers?.includes(SETTLEMENT)) {
      reading.isExcused = true;
      this.quarantined.push({
        ...unreadableEntry({ opaque: true, stored: event, problem: null, quarantine: event.quarantine }),
      });
    }
    if (reading.completed) {
      const ids = { readingId, readingEventId: event.id };
      this.differences.push(
        difference('completed_twice', workspaceId, 'the reading was completed before', ids),
      );
      return;
    }
    reading.completed = { eventId: event.id, reservationId, at: Date.parse(event.metadata.occurredAt) };
    this.readings.set(readingId, reading);
  }

  private seeBook(event: Recorded<CreditsEvent>): void {
    const workspaceId = streamId(event.stream);
    const openedAt = Date.parse(event.metadata.occurredAt);
    const book = this.books.get(workspaceId) ?? {
      totals: emptyTotals,
      openedAt,
      headEventId: '',
      headRevision: -1n,
    };
    this.books.set(workspaceId, book);
    book.totals = post(book.totals, postings(event));
    book.headEventId = event.id;
    book.headRevision = event.revision;
    const row = this.rows.get(workspaceId);
    if (row && row.revision < event.revision) {
      book.unapplied ??= { eventId: event.id, occurredAt: event.metadata.occurredAt };
    }
    if (row?.revision === event.revision) this.compareBalance(workspaceId, event.id, book.totals, row);
    if (event.type === 'CreditsCaptured') this.seeCapture(workspaceId, event.id, event);
  }

  private compareBalance(workspaceId: string, eventId: string, totals: Totals, row: BalanceRow): void {
    const balance = balanceOf({ ...noBook, totals });
    const accounts = (Object.keys(balance) as (keyof Balance)[]).filter(
      (account) => balance[account] !== row.balance[account],
    );
    if (accounts.length === 0) return;
    const differing = accounts.map(
      (account) => `${account} ${row.balance[account]}, not ${balance[account]}`,
    );
    const message = `the balance view has at revision ${row.revision} ${differing.join('; ')}`;
    this.differences.push(difference('balance_differs', workspaceId, message, { creditsEventId: eventId }));
  }

  private seeCapture(
    workspaceId: string,
    creditsEventId: string,
    { data }: CreditsEventOf<'CreditsCaptured'>,
  ): void {
    this.captures += 1;
    const { readingId, causeEventId, reservationId, amount } = data;
    const reading = this.readings.get(readingId);
    const ids = { readingId, creditsEventId, readingEventId: reading?.completed?.eventId ?? causeEventId };
    const differs = (kind: LedgerDifference['kind'], message: string): void => {
      this.differences.push(difference(kind, workspaceId, message, ids));
    };
    if (!reading?.completed) {
      differs('not_completed', 'credits were captured for a reading that is not completed');
      return;
    }
    if (reading.captureEventId) {
      differs('captured_twice', `credits were captured before, by event ${reading.captureEventId}`);
      return;
    }
    reading.captureEventId = creditsEventId;
    const { completed } = reading;
    if (completed.eventId !== causeEventId)
      differs('fields_differ', 'the capture names another event as its cause');
    if (completed.reservationId !== reservationId)
      differs('fields_differ', 'the reservations are not the same');
    if (reading.workspaceId !== workspaceId) differs('fields_differ', 'the workspaces are not the same');
    if (reading.cost !== null && reading.cost !== amount) {
      differs('fields_differ', `${amount} credits were captured, the reading costs ${reading.cost}`);
    }
  }
}

/** Nothing deletes a book, so its row was deleted. */
const withoutRow = (workspaceId: string): string =>
  `the balance view has no such book: ops projections replay billing.balance.v1 --stream credits-${workspaceId}`;

const difference = (
  kind: LedgerDifference['kind'],
  workspaceId: string,
  message: string,
  ids: Partial<Pick<LedgerDifference, 'readingId' | 'creditsEventId' | 'readingEventId'>>,
): LedgerDifference => ({
  kind,
  workspaceId,
  readingId: null,
  creditsEventId: null,
  readingEventId: null,
  ...ids,
  message,
});
