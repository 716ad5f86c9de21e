import { root } from '../arithmetic/reduce.js';
import type { CalendarDate } from '../calendar/calendar-date.js';

/**
 * The four challenges, 0–8, never masters. They have no dates: the first, second and fourth apply to early, middle and
 * late life, the main one to all of it.
 */
export interface Challenges {
  readonly first: number;
  readonly second: number;
  readonly main: number;
  readonly fourth: number;
}

/** C1 = |m − d|, C2 = |d − y|, main = |C1 − C2|, C4 = |m − y| over the roots of month, day and year (Decoz). */
export function challenges(birth: CalendarDate): Challenges {
  const [month, day, year] = [root(birth.month), root(birth.day), root(birth.year)];
  const first = Math.abs(month - day);
  const second = Math.abs(day - year);
  return { first, second, main: Math.abs(first - second), fourth: Math.abs(month - year) };
}
