import { instant } from '#event-sourcing/core/clock.js';
import type { OpaqueEvent } from '#event-sourcing/core/event-catalogue.js';
import type { Recorded, StoredEvent } from '#event-sourcing/core/event.js';
import { CHAIN_START, chainedFacts, continuesChain, nextChain } from '#event-sourcing/core/hash-chain.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import type { LedgerFinding, LedgerReport, UnreadableEntry, MonthItem } from '../contracts/audit.js';
import {
  isContradicted,
  bookEvent,
  isHidden,
  isOpaque,
  sentenceOf,
  sentenceOfHidden,
  unreadableEntry,
} from './book-entry.js';
import type { CreditsEvent, CreditsEventOf } from '../contracts/events.js';
import { BookMoney } from './book-money.js';
import { InvariantWatch } from '../domain/invariants.js';
import { Reversals, type UsedCredits, entryValue } from '../domain/value.js';
import { endOfMonth, startOfMonth } from '../domain/calendar.js';
import type { Money } from '../contracts/messages.js';

/** The chain value of an event that follows another. */
export const chainAfter = (previous: string, event: StoredEvent): string =>
  nextChain(previous, chainedFacts(event));

const MOVES_OTHERWISE = 'the value that the entry moves does not follow from the entry that it reverses';

/**
 * Checks the raw events of one book in stream order: revisions, hash chain, dates and invariants. Of each capture it
 * keeps the cause and the value.
 *
 * After the first broken invariant, only revisions and chain are checked, because consequences of it would hide it.
 */
export class BookVerifier {
  private readonly findings: LedgerFinding[] = [];
  private readonly setAside: UnreadableEntry[] = [];
  /** Events that credits were captured for. */
  private readonly causes = new Set<string>();
  /** The book in money, as long as nothing was found. */
  readonly money = new BookMoney();
  private readonly reversals = new Reversals();
  /** What the last event took from grants. */
  private used: readonly UsedCredits[] = [];
  private watch: InvariantWatch | null = new InvariantWatch();
  /** No event of the book was seen yet: those that are passed over do not open it. */
  private isNew = true;
  private events = 0;
  private nextRevision = 0n;
  private chain = CHAIN_START;
  /** Dates that the store's record time contradicts, and that no correction names yet. */
  private misdated: { readonly finding: LedgerFinding; readonly eventId: string }[] = [];
  private repairedDates = 0;
  /** Entries that can be read and are passed over. */
  private hidden: LedgerFinding[] = [];
  private readonly dates: EarliestDates;

  /** @param boundMs CLOCK_REFUSE_MS: a date may be this much after its record time */
  constructor(
    private readonly stream: string,
    private readonly boundMs: number,
  ) {
    this.dates = new EarliestDates(boundMs);
  }

  /**
   * @param event the same event decoded, if the caller has it
   * @returns what it took from grants, as long as nothing was found
   */
  see(stored: StoredEvent, event = bookEvent(stored)): readonly UsedCredits[] {
    this.events += 1;
    this.used = [];
    this.checkRevision(stored);
    if (isOpaque(event) && event.setAside) this.passOver(event);
    else {
      this.checkChain(stored);
      if (this.watch) this.checkBook(event, this.watch);
    }
    return this.used;
  }

  /** The chain goes through an event that a newer program wrote, and past one that another program appended. */
  private passOver(event: OpaqueEvent): void {
    if (continuesChain(this.chain, event.stored)) this.chain = event.stored.metadata.chain!;
    this.setAside.push(unreadableEntry(event));
    const { revision } = event.stored;
    if (isHidden(event)) this.hidden.push({ revision, check: 'event', message: sentenceOfHidden(event) });
  }

  report(): LedgerReport {
    const misdated = this.misdated.map(({ finding }) => finding);
    const findings = [...this.findings, ...misdated, ...this.hidden].sort((a, b) =>
      Number(a.revision - b.revision),
    );
    const revisions = findings.map(({ revision }) => revision);
    return {
      workspaceId: streamId(this.stream),
      events: this.events,
      headRevision: this.events === 0 ? null : this.nextRevision - 1n,
      headHash: this.chain,
      firstBadRevision: revisions.reduce<bigint | null>(
        (first, revision) => (first === null || revision < first ? revision : first),
        null,
      ),
      findings,
      setAside: this.setAside,
      repairedDates: this.repairedDates,
    };
  }

  /** Whether something was found that allows no seal: anything but wrong dates. */
  get hasFindings(): boolean {
    return this.findings.length > 0;
  }

  /** The open month. Empty before the book is opened, or after something was found. */
  get period(): string {
    return this.watch?.state.period ?? '';
  }

  private checkRevision({ revision }: StoredEvent): void {
    if (revision !== this.nextRevision) {
      this.find(this.nextRevision, 'revision', `revision ${revision} stands where this one belongs`);
    }
    this.nextRevision = revision + 1n;
  }

  private checkChain(stored: StoredEvent): void {
    const recorded = stored.metadata.chain;
    if (recorded !== chainAfter(this.chain, stored)) {
      this.find(
        stored.revision,
        'chain',
        recorded === undefined ? 'the event has no chain value' : 'the chain value does not fit the event',
      );
    }
    // Reports each break once: what follows is checked against the recorded value.
    this.chain = recorded ?? this.chain;
  }

  private checkBook(event: Recorded<CreditsEvent> | OpaqueEvent, watch: InvariantWatch): void {
    const before = this.findings.length;
    if (isOpaque(event)) {
      this.find(event.stored.revision, 'event', sentenceOf(unreadableEntry(event)));
    } else {
      this.checkOpening(event);
      this.checkDate(event, watch.state.period);
      this.checkRecordTime(event);
      this.checkCause(event);
      if (event.type === 'PeriodClosed') this.closeOverHidden();
      for (const breach of this.breachesOf(event, watch)) this.find(event.revision, 'invariant', breach);
    }
    if (this.findings.slice(before).some(({ check }) => check !== 'date')) {
      this.watch = null;
    }
  }

  /** The close carries the book without them. It stays a finding. */
  private closeOverHidden(): void {
    this.hidden = this.hidden.map((finding) => ({ ...finding, check: 'setAside' }));
  }

  private breachesOf(event: Recorded<CreditsEvent>, watch: InvariantWatch): readonly string[] {
    const before = watch.state;
    const breaches = watch.see(event, event.metadata);
    this.used = this.money.see(event, before, watch.state);
    return this.reversals.see(event, this.used) ? breaches : [...breaches, MOVES_OTHERWISE];
  }

  private checkOpening(event: Recorded<CreditsEvent>): void {
    if ((event.type === 'BookOpened') !== this.isNew) {
      this.find(event.revision, 'event', 'a book is opened by its first event and no other');
    }
    this.isNew = false;
    if (event.type === 'BookOpened' && event.data.workspaceId !== streamId(this.stream)) {
      this.find(event.revision, 'event', 'the book belongs to another workspace');
    }
  }

  private checkDate(event: Recorded<CreditsEvent>, openPeriod: string): void {
    if (this.dates.allow(event, openPeriod)) return;
    this.find(event.revision, 'date', `dated ${event.metadata.occurredAt}, before its month is open for it`);
  }

  /**
   * A date later than the store's own clock was is wrong. An earlier one proves nothing: a copied log has new record
   * times.
   */
  private checkRecordTime(event: Recorded<CreditsEvent>): void {
    if (event.type === 'CreditsAdjusted') this.explainDates(event.data);
    const { id, revision, metadata, recordedAt } = event;
    if (!isContradicted(event, this.boundMs)) return;
    const message = `dated ${metadata.occurredAt}, but the store recorded it at ${instant(recordedAt!)}`;
    this.misdated.push({ finding: { revision, check: 'clock', message }, eventId: id });
  }

  /**
   * A correction explains the entry that it reverses. With the reference `clock:<event>`, it explains all wrong dates so
   * far: nothing can reverse a hold or a close.
   */
  private explainDates({ reversesEventId, reference }: CreditsEventOf<'CreditsAdjusted'>['data']): void {
    if (!this.misdated.some(({ eventId }) => eventId === reversesEventId)) return;
    const isRepair = reference === `clock:${reversesEventId}`;
    const left = isRepair ? [] : this.misdated.filter(({ eventId }) => eventId !== reversesEventId);
    this.repairedDates += this.misdated.length - left.length;
    this.misdated = left;
  }

  /** Credits are earned once: one capture per completed reading. */
  private checkCause(event: Recorded<CreditsEvent>): void {
    if (event.type !== 'CreditsCaptured') return;
    const { causeEventId } = event.data;
    if (this.causes.has(causeEventId))
      this.find(event.revision, 'invariant', `event ${causeEventId} was captured for before`);
    this.causes.add(causeEventId);
  }

  private find(revision: bigint, check: LedgerFinding['check'], message: string): void {
    this.findings.push({ revision, check, message });
  }
}

/** The earliest date that each entry of one book may have, in stream order. */
class EarliestDates {
  /** Entries after a month that was closed too early have their true dates: not before the store recorded its end. */
  private closedAt = Infinity;
  /** The other parts of a close, and the close itself, are not dated before its first part, or before its record. */
  private carriedAt = -Infinity;

  /** @param boundMs CLOCK_REFUSE_MS: a date may be this much after its record time */
  constructor(private readonly boundMs: number) {}

  /**
   * Whether the entry's date is in the open month or later.
   * @param openPeriod empty when it is not known
   */
  allow(event: Recorded<CreditsEvent>, openPeriod: string): boolean {
    const date = Date.parse(event.metadata.occurredAt);
    const isAllowed = date >= this.earliestOf(event, openPeriod);
    const { type, data, recordedAt } = event;
    const recordedSince = recordedAt === undefined ? undefined : recordedAt - this.boundMs;
    if (type === 'PeriodCarried' && data.part === 0)
      this.carriedAt = recordedSince === undefined ? -Infinity : Math.min(recordedSince, date);
    if (type === 'PeriodClosed' && recordedSince !== undefined) this.closedAt = recordedSince;
    return isAllowed;
  }

  /** A close that a wrong clock began too early goes on with true dates. */
  private earliestOf({ type, data }: CreditsEvent, openPeriod: string): number {
    if (type === 'PeriodCarried' && data.part > 0) return this.carriedAt;
    if (type === 'PeriodClosed' && data.carried) return this.carriedAt;
    if (type === 'PeriodCarried' || type === 'PeriodClosed') return endOfMonth(data.period);
    return openPeriod === '' ? -Infinity : Math.min(startOfMonth(openPeriod), this.closedAt);
  }
}

interface VerifiedMonth {
  readonly closed: Pick<Recorded, 'id' | 'revision' | 'metadata'> & {
    readonly data: Pick<
      CreditsEventOf<'PeriodClosed'>['data'],
      'workspaceId' | 'period' | 'opening' | 'totals' | 'closing'
    >;
  };
  readonly money: Money;
  readonly items: readonly MonthItem[];
}

export interface VerifiedBook {
  /** Of its first event in the log: reports are in this order. */
  readonly position: bigint;
  readonly verifier: BookVerifier;
  readonly items: MonthItem[];
  /** Month of its opening; empty when it was not opened, or something was found before. */
  opened: string;
  month: VerifiedMonth | null;
}

/** Verifies whole books of the log, and takes one month of each as soon as its part of the stream has verified. */
export class VerifiedBooks {
  private readonly books = new Map<string, VerifiedBook>();

  /**
   * @param period the month; `null`: none
   * @param boundMs as for a {@link BookVerifier}
   */
  constructor(
    private readonly period: string | null,
    private readonly boundMs: number,
  ) {}

  see(stored: StoredEvent, event: Recorded<CreditsEvent> | OpaqueEvent): void {
    const book = this.books.get(stored.stream) ?? {
      position: stored.position,
      verifier: new BookVerifier(stored.stream, this.boundMs),
      items: [],
      opened: '',
      month: null,
    };
    this.books.set(stored.stream, book);
    const month = book.verifier.period;
    const used = book.verifier.see(stored, event);
    if (book.verifier.hasFindings || isOpaque(event)) return;
    if (event.type === 'BookOpened') book.opened = book.verifier.period;
    if (month !== this.period) return;
    if (event.type === 'PeriodClosed') book.month = monthOf(event, book);
    book.items.push(...itemsOf(event, used));
  }

  /** The workspaces of the books that have not closed a month (`yyyy-mm`), without those where something was found. */
  openUntil(period: string): string[] {
    return [...this.books].flatMap(([stream, { verifier }]) =>
      verifier.period !== '' && verifier.period <= period ? [streamId(stream)] : [],
    );
  }

  result(): VerifiedBook[] {
    return [...this.books.values()];
  }
}

const monthOf = (
  { id, revision, metadata, data }: Recorded<CreditsEventOf<'PeriodClosed'>>,
  { verifier, items }: VerifiedBook,
): VerifiedMonth | null => {
  const money = verifier.money.closedMonth;
  const { workspaceId, period, opening, totals, closing } = data;
  return (
    money && {
      closed: { id, revision, metadata, data: { workspaceId, period, opening, totals, closing } },
      money,
      items,
    }
  );
};

/** Value that a correction takes without naming an entry is in the figures of the month only. */
const itemsOf = (event: Recorded<CreditsEvent>, used: readonly UsedCredits[]): MonthItem[] => {
  const { type, data, metadata } = event;
  switch (type) {
    case 'PlanGranted':
      return [{ figure: 'sales', reference: data.grantId, at: data.validFrom, cents: data.priceCents }];
    case 'PackPurchased':
      return [{ figure: 'sales', reference: data.grantId, at: metadata.occurredAt, cents: data.priceCents }];
    case 'CreditsAdjusted': {
      const { as: figure, of, cents } = entryValue(data, used);
      const reference = of ?? data.reference ?? data.adjustmentId;
      return data.reversesEventId === null ? [] : [{ figure, reference, at: metadata.occurredAt, cents }];
    }
    default:
      return [];
  }
};
