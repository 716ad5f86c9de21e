/** A day of the proleptic Gregorian calendar, without a time zone. */
export interface CalendarDate {
  readonly year: number;
  /** 1–12 */
  readonly month: number;
  /** 1–31 */
  readonly day: number;
}

const PATTERN = /^(\d{4})-(\d{2})-(\d{2})$/;

/** Reads a strict `YYYY-MM-DD` that names a real day; anything else is null. */
export function readDate(text: string): CalendarDate | null {
  const match = PATTERN.exec(text);
  if (!match) return null;
  const [year, month, day] = [Number(match[1]), Number(match[2]), Number(match[3])];
  return month >= 1 && month <= 12 && day >= 1 && day <= daysIn(year, month) ? { year, month, day } : null;
}

/** As `readDate`, for text that was validated before. Throws a RangeError otherwise. */
export function requireDate(text: string): CalendarDate {
  const date = readDate(text);
  if (!date) throw new RangeError('not a calendar date YYYY-MM-DD');
  return date;
}

/**
 * Completed years on the day `on`. A person born on 29 February grows older on 1 March of a common year.
 * Never negative: the date of birth may be today in a time zone that is a day ahead of `on`.
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
