import { decodeOrShow, isOpaque, type OpaqueEvent } from '#event-sourcing/core/event-catalogue.js';
import type { Recorded, StoredEvent } from '#event-sourcing/core/event.js';
import { categoryOf, streamId } from '#event-sourcing/core/stream-name.js';
import { readingEvents, type ReadingEvent } from '#readings/contracts/index.js';
import type { LedgerDifference } from '../contracts/audit.js';
import type { UnreadableEntry } from '../contracts/unreadable-entry.js';
import { booksOf, type CreditsEvent, type CreditsEventOf } from '../contracts/events.js';
import { BookBalances, type BalanceRow } from './book-balances.js';
import { byPosition, differenceOf, type Missing, type Placed } from './ledger-difference.js';
import type { ReadingFact } from './settlements.js';
import { SETTLEMENT } from '../processes/settlement.process.js';
import { bookEvent, isHidden, sentenceOf, sentenceOfHidden, unreadableEntry } from './unreadable-entry.js';

interface Requested {
  readonly workspaceId: string;
  readonly cost: number;
  readonly position: bigint;
}

/** What a part of the log shows, besides its reading facts. */
export interface ReconciledPart {
  readonly books: number;
  readonly differences: readonly Placed<LedgerDifference>[];
  readonly missing: readonly Missing[];
  readonly setAside: readonly Placed<UnreadableEntry>[];
}

/**
 * Compares the books of one mode in a part of the log with the balance view, and reports the facts of its readings and captures. A
 * part has whole streams; a reading and its capture may be in different parts. Keeps the requested readings in memory
 * until they complete.
 */
export class ReconcilePart {
  private readonly requested = new Map<string, Requested>();
  /** Readings of the other mode that have not ended. */
  private readonly ofOtherMode = new Set<string>();
  private readonly balances: BookBalances;
  /** Of the books. */
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
    private readonly tell: (fact: ReadingFact) => void,
    private readonly livemode: boolean,
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

  result(): ReconciledPart {
    const { books, differences, missing } = this.balances.result();
    return {
      books,
      differences: [...this.differences, ...[...this.hidden.values()].flat(), ...differences].sort(
        byPosition,
      ),
      missing,
      setAside: this.setAside,
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
      if (event.revision > 0n) this.tell({ kind: 'ended', readingId, position });
    }
    if (event.type === 'ReadingFailed' || event.type === 'ReadingAbandoned') {
      this.requested.delete(readingId);
      this.tell({ kind: 'ended', readingId, position });
    }
    if (event.type !== 'ReadingCompleted' || !this.follows(event.data.workspaceId)) return;
    const { workspaceId, reservationId } = event.data;
    const request = this.requested.get(readingId);
    this.requested.delete(readingId);
    const isExcused = event.setAside?.consumers?.includes(SETTLEMENT) ?? false;
    if (isExcused)
      this.addSetAside({ opaque: true, stored: event, problem: null, setAside: event.setAside! });
    this.tell({
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
    this.tell({
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
