import type { CalendarDate } from '../calendar/calendar-date.js';
import type { Word } from '../name/words.js';
import { personalMonth, personalYear, universalYear } from './personal-year.js';
import { type Essence, type Transits, transitsAt } from './transits.js';

/** The cycles on the day of the reading. */
export interface Now {
  readonly year: number;
  readonly universalYear: number;
  readonly personalYear: number;
  readonly personalMonth: number;
  readonly nextPersonalYear: number;
  readonly transits: Transits;
  readonly essence: Essence;
}

export const now = (birth: CalendarDate, words: readonly Word[], asOf: CalendarDate, age: number): Now => ({
  year: asOf.year,
  universalYear: universalYear(asOf.year),
  personalYear: personalYear(birth, asOf.year),
  personalMonth: personalMonth(birth, asOf.year, asOf.month),
  nextPersonalYear: personalYear(birth, asOf.year + 1),
  ...transitsAt(words, age),
});
