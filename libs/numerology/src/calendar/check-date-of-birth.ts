import { readDate } from './calendar-date.js';

export interface DateProblem {
  readonly code: 'invalid_date';
  readonly detail: string;
}

/** The first whole year of the Gregorian calendar. */
export const EARLIEST_DATE_OF_BIRTH = '1583-01-01';

/**
 * Why `text` is no date of birth, or null if it is one: strictly `YYYY-MM-DD`, a real day, from 1583-01-01 to `today`.
 * `today` is the ISO date in the earliest time zone (UTC+14): whoever is born today, wherever, is accepted.
 */
export function checkDateOfBirth(text: string, today: string): DateProblem | null {
  if (!readDate(text)) return invalid('must be a calendar date YYYY-MM-DD');
  if (text < EARLIEST_DATE_OF_BIRTH) return invalid(`must not be before ${EARLIEST_DATE_OF_BIRTH}`);
  if (text > today) return invalid('must not be in the future');
  return null;
}

const invalid = (detail: string): DateProblem => ({ code: 'invalid_date', detail });
