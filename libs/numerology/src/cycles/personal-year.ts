import { root } from '../arithmetic/reduce.js';
import type { CalendarDate } from '../calendar/calendar-date.js';

type BirthdayOfYear = Pick<CalendarDate, 'month' | 'day'>;

/** Universal year: root(digit sum of the calendar year), 1–9. */
export const universalYear = (year: number): number => root(year);

/** Personal year: root(root m + root d + root year), January to December (Decoz), 1–9, never a master. */
export const personalYear = (birth: BirthdayOfYear, year: number): number =>
  root(root(birth.month) + root(birth.day) + root(year));

/** Personal month: root(personal year + calendar month). */
export const personalMonth = (birth: BirthdayOfYear, year: number, month: number): number =>
  root(personalYear(birth, year) + month);

/** Personal day: root(personal month + day of the month). */
export const personalDay = (birth: BirthdayOfYear, on: CalendarDate): number =>
  root(personalMonth(birth, on.year, on.month) + on.day);
