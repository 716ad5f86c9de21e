import { canonicalJson } from '@app/event-sourcing/core/canonical-json.js';
import type { CreditsEvent, CreditsEventOf } from '../contracts/events.js';
import { namesParts, noItems } from '../domain/credits/carried.js';
import { evolve, noBook, type Credits } from '../domain/credits/credits.state.js';

/** Whether a book is known from this first event on: its beginning, or a closed month with all its parts. */
export const startsWhole = ({ type, data }: CreditsEvent): boolean =>
  type === 'BookOpened' ||
  (type === 'PeriodCarried' && data.part === 0) ||
  (type === 'PeriodClosed' && data.carried === null);

/** Whether an event is the close of a month, or a part of it. */
export const closes = (
  event: CreditsEvent,
): event is CreditsEventOf<'PeriodCarried'> | CreditsEventOf<'PeriodClosed'> =>
  event.type === 'PeriodCarried' || event.type === 'PeriodClosed';

interface Seen {
  /** The book folded from the parts of the close; `null`: this event does not close a month, or parts are missing. */
  readonly parts: Credits | null;
  readonly breaches: readonly string[];
}

const CARRIED = "the closed month's carried differs from the book";

/**
 * Follows a part of a book until a closed month states what grants and holds there are. The part may begin anywhere: the
 * first close may lack its parts, or some of them, and then states nothing.
 */
export class BookStart {
  private parts = noBook;
  /** Number of the part that follows in a close; `null` outside of one. */
  private next: number | null = null;
  /** The close began inside this part of the book. */
  private isWhole = false;
  private isFirst = true;

  see(event: CreditsEvent): Seen {
    const { isFirst } = this;
    this.isFirst = false;
    if (event.type === 'PeriodCarried') return this.seePart(event, isFirst);
    const { next } = this;
    this.next = null;
    if (event.type === 'PeriodClosed') return this.close(event.data, next, isFirst);
    return next === null ? nothing() : nothing('an entry stands between the parts of a closed month');
  }

  private seePart(event: CreditsEventOf<'PeriodCarried'>, isFirst: boolean): Seen {
    const { part } = event.data;
    const isNext = part === (this.next ?? (isFirst ? part : 0));
    if (this.next === null) [this.parts, this.isWhole] = [noBook, part === 0];
    this.parts = evolve(this.parts, event);
    this.next = part + 1;
    return isNext ? nothing() : nothing('part in a part of the closed month differs from the book');
  }

  private close(data: CreditsEventOf<'PeriodClosed'>['data'], next: number | null, isFirst: boolean): Seen {
    const { carried } = data;
    if (carried === null) return next === null ? { parts: noBook, breaches: [] } : nothing(CARRIED);
    for (const [field, none] of Object.entries(noItems))
      if (canonicalJson(data[field as keyof typeof noItems]) !== canonicalJson(none))
        return nothing(`the closed month's ${field} differs from the book`);
    if (next === null && isFirst) return nothing();
    if (!this.isWhole || next === null) return next === carried.parts ? nothing() : nothing(CARRIED);
    return namesParts(data, this.parts.carried) ? { parts: this.parts, breaches: [] } : nothing(CARRIED);
  }
}

const nothing = (...breaches: readonly string[]): Seen => ({ parts: null, breaches });
