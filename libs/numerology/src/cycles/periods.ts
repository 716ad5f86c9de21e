import { reduce } from '../arithmetic/reduce.js';
import type { CalendarDate } from '../calendar/calendar-date.js';
import { type Stage, stages } from './stage.js';

/**
 * Ages at which the second and third period begin (Decoz): a1 = 27 + ((10 − L) mod 9), a2 = a1 + 27. L is the
 * root of the Life Path. Both ages are in a personal year 1.
 */
export function periodAges(lifePathRoot: number): [number, number] {
  const second = 27 + ((10 - lifePathRoot) % 9);
  return [second, second + 27];
}

/** The three period cycles (formative, productive, harvest): red(month), red(day), red(year). */
export const periods = (birth: CalendarDate, lifePathRoot: number, age: number): Stage[] =>
  stages(
    [reduce(birth.month), reduce(birth.day), reduce(birth.year)],
    periodAges(lifePathRoot),
    birth.year,
    age,
  );
