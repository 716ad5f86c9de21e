import { readDate } from './calendar-date.js';

export interface DateProblem {
  readonly code: 'invalid_date';
  readonly detail: string;
}

/** The first whole year of the Gregorian calendar. */
export const EARLIEST_DATE_OF_BIRTH = '1583-01-01';

/**
 * Returns the problem of a date of birth, or null. A valid one is strictly `YYYY-MM-DD`, a real day, from 1583-01-01 to
 * `today`. `today` is the ISO date in the earliest time zone (UTC+14), so that births of today are valid everywhere.
 */
export function checkDateOfBirth(text: string, today: string): DateProblem | null {
  if (!readDate(text)) return invalid('must be a calendar date YYYY-MM-DD');
  if (text < EARLIEST_DATE_OF_BIRTH) return invalid(`must not be before ${EARLIEST_DATE_OF_BIRTH}`);
  if (text > today) return invalid('must not be in the future');
  return null;
}

const invalid = (detail: string): DateProblem => ({ code: 'invalid_date', detail });
