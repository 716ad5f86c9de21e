import { reduce } from '../arithmetic/reduce.js';
import type { CalendarDate } from '../calendar/calendar-date.js';
import { type Stage, stages } from './stage.js';

/** Ages at which the second to fourth pinnacle begin (Decoz): 36 − L, then every nine years; L: Life Path root. */
export function pinnacleAges(lifePathRoot: number): [number, number, number] {
  const second = 36 - lifePathRoot;
  return [second, second + 9, second + 18];
}

/**
 * The four pinnacles, masters kept. M, D, Y are the reduced month, day and year: P1 = red(M + D), P2 = red(D + Y),
 * P3 = red(P1 + P2), P4 = red(M + Y). Example (Decoz): 15 May 1949 gives 11, 11, 22, 1.
 */
export function pinnacles(birth: CalendarDate, lifePathRoot: number, age: number): Stage[] {
  const [month, day, year] = [reduce(birth.month), reduce(birth.day), reduce(birth.year)];
  const first = reduce(month + day);
  const second = reduce(day + year);
  const values = [first, second, reduce(first + second), reduce(month + year)];
  return stages(values, pinnacleAges(lifePathRoot), birth.year, age);
}
