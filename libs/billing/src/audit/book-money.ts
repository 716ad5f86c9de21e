import { CURRENCY } from '../contracts/catalogue.js';
import type { CreditsEvent } from '../contracts/events.js';
import type { Money } from '../contracts/messages.js';
import type { Credits } from '../domain/credits.state.js';
import { deferredIn, usedAs, usedBy, type UsedCredits } from '../domain/value.js';

type Flow = { -readonly [K in Exclude<keyof Money, 'currency' | 'closing'>]: number };

const startingWith = (opening: number): Flow => ({
  opening,
  sales: 0,
  earned: 0,
  breakage: 0,
  corrections: 0,
  refunds: 0,
});

/**
 * The value of a book in cents, event by event: of everything it has seen, and of the open month. It starts at a book's
 * beginning or at a closed month, as the first event shows.
 */
export class BookMoney {
  private total: Flow | null = null;
  private month: Flow | null = null;
  private lastMonth: Money | null = null;
  private isStarted = false;

  /** @returns what the event took out of the grants for good */
  see(event: CreditsEvent, before: Credits, after: Credits): UsedCredits[] {
    // Parts belong to the close after them.
    if (event.type === 'PeriodCarried') return [];
    const isFirst = !this.isStarted;
    this.isStarted = true;
    if (event.type === 'BookOpened') [this.total, this.month] = [startingWith(0), startingWith(0)];
    if (event.type === 'PlanGranted' || event.type === 'PackPurchased')
      this.add('sales', event.data.priceCents);
    if (event.type === 'CreditsAdjusted' && event.data.restores)
      this.add(usedAs(event.data), -event.data.restores.priceCents);
    const used = usedBy(event, before);
    for (const { use, cents } of used) this.add(use, cents);
    if (event.type === 'PeriodClosed') {
      this.lastMonth = isFirst ? null : this.ended(this.month, before);
      const deferred = deferredIn(after.grants);
      this.month = startingWith(deferred);
      if (isFirst) this.total = startingWith(deferred);
    }
    return used;
  }

  /** Of the last closed month. `null` when no month was seen whole. */
  get closedMonth(): Money | null {
    return this.lastMonth;
  }

  openMonth(state: Credits): Money | null {
    return this.ended(this.month, state);
  }

  all(state: Credits): Money | null {
    return this.ended(this.total, state);
  }

  private add(name: keyof Flow, cents: number): void {
    if (this.total) this.total[name] += cents;
    if (this.month) this.month[name] += cents;
  }

  private ended(flow: Flow | null, { grants }: Credits): Money | null {
    return flow && { currency: CURRENCY, ...flow, closing: deferredIn(grants) };
  }
}
