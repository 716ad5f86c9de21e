import type { OpaqueEvent } from '#event-sourcing/core/event-catalogue.js';
import type { Recorded, StoredEvent } from '#event-sourcing/core/event.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import type { MonthItem } from '../contracts/audit.js';
import type { CreditsEvent, CreditsEventOf } from '../contracts/events.js';
import type { Money } from '../contracts/queries.js';
import { entryValue, type UsedCredits } from '../domain/value.js';
import { isOpaque } from './book-entry.js';
import { BookVerifier } from './verify-book.js';

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
