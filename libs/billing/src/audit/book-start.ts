import type { CreditsEvent, CreditsEventOf } from '../contracts/events.js';

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
