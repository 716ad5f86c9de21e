import type { Recorded } from '#event-sourcing/core/event.js';
import type { CreditsEvent } from '../contracts/events.js';
import { endOfMonth, startOfMonth } from '../domain/credits/calendar.js';

/** The earliest date that each entry of one book may have, in stream order. */
export class EarliestDates {
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
