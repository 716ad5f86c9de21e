/** A day of the proleptic Gregorian calendar, without a time zone. */
export interface CalendarDate {
  readonly year: number;
  /** 1–12 */
  readonly month: number;
  /** 1–31 */
  readonly day: number;
}

const PATTERN = /^(\d{4})-(\d{2})-(\d{2})$/;

/** Parses a strict `YYYY-MM-DD` that names a real day; returns null for anything else. */
export function readDate(text: string): CalendarDate | null {
  const match = PATTERN.exec(text);
  if (!match) return null;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month) ? { year, month, day } : null;
}

/** Like `readDate`, for validated text. Throws a RangeError for anything else. */
export function requireDate(text: string): CalendarDate {
  const date = readDate(text);
  if (!date) throw new RangeError('not a calendar date YYYY-MM-DD');
  return date;
}

/**
 * Completed years on the day `on`. In a common year, a person born on 29 February turns a year older on 1 March.
 * Never negative: in a time zone a day ahead of `on`, the date of birth may be today.
 */
export function ageOn(birth: CalendarDate, on: CalendarDate): number {
  const birthdayPassed = on.month > birth.month || (on.month === birth.month && on.day >= birth.day);
  return Math.max(0, on.year - birth.year - (birthdayPassed ? 0 : 1));
}

function daysIn(year: number, month: number): number {
  if (month === 2) return isLeap(year) ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

const isLeap = (year: number): boolean => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);

/** The first whole year of the Gregorian calendar. */
const EARLIEST_DATE_OF_BIRTH = '1583-01-01';

/**
 * Returns the problem of a date of birth, or null. A valid one is strictly `YYYY-MM-DD`, a real day, from 1583-01-01 to
 * `today`. `today` is the ISO date in the earliest time zone (UTC+14), so that births of today are valid everywhere.
 */
export function checkDateOfBirth(text: string, today: string) {
  if (!readDate(text)) return invalid('must be a calendar date YYYY-MM-DD');
  if (text < EARLIEST_DATE_OF_BIRTH) return invalid(`must not be before ${EARLIEST_DATE_OF_BIRTH}`);
  if (text > today) return invalid('must not be in the future');
  return null;
}

const invalid = (detail: string) => ({ code: 'invalid_date', detail }) as const;
