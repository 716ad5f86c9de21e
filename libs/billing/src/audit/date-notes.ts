import { instant } from '#event-sourcing/core/clock.js';
import type { Recorded } from '#event-sourcing/core/event.js';
import type { CreditsEvent } from '../contracts/events.js';
import { endOfMonth, startOfMonth } from '../domain/credits/calendar.js';
import { closes } from './book-start.js';
import { isContradicted } from './record-time.js';

/** What a reader of a month must know when a wrong clock dated its entries, or closed a month too early. */
export class DateNotes {
  private misdated = 0;
  private earlier = 0;
  private closedEarlyAt: string | null = null;

  /** @param boundMs CLOCK_REFUSE_MS */
  constructor(
    private readonly period: string,
    private readonly boundMs: number,
  ) {}

  see(event: Recorded<CreditsEvent>): void {
    const { recordedAt, metadata } = event;
    const isMisdated = isContradicted(event, this.boundMs);
    if (isMisdated) this.misdated += 1;
    if (Date.parse(metadata.occurredAt) < startOfMonth(this.period)) this.earlier += 1;
    if (closes(event) && isMisdated && recordedAt! < endOfMonth(this.period))
      this.closedEarlyAt ??= instant(recordedAt!);
  }

  sentences(): string[] {
    return [
      ...(this.misdated > 0
        ? [
            `${this.misdated} entries have dates after the time at which the store recorded them: a clock was wrong`,
          ]
        : []),
      ...(this.closedEarlyAt
        ? [
            `the month was closed at ${this.closedEarlyAt}, before its end: later entries are in the next open month`,
          ]
        : []),
      ...(this.earlier > 0
        ? [
            `${this.earlier} entries are of an earlier month, which was closed too early; their dates are true`,
          ]
        : []),
    ];
  }
}
