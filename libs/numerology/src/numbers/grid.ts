import { type Digit, DIGITS } from '../arithmetic/reduce.js';
import type { Letter } from '../name/words.js';

/** The inclusion grid. */
export interface Grid {
  /** number of letters of each value */
  readonly counts: Readonly<Record<Digit, number>>;
  /** karmic lessons: the values without a letter, ascending */
  readonly lessons: readonly Digit[];
  /** hidden passion: the most frequent value; on a tie, all of them, ascending */
  readonly hiddenPassion: readonly Digit[];
}

/** Inclusion grid, karmic lessons and hidden passion of the letters of a name. */
export function grid(letters: readonly Letter[]): Grid {
  const counts: Record<Digit, number> = { 1: 0, 2: 0, 3: 0, 4: 0, 5: 0, 6: 0, 7: 0, 8: 0, 9: 0 };
  for (const { value } of letters) counts[value] += 1;
  const highest = Math.max(...Object.values(counts));
  return {
    counts,
    lessons: DIGITS.filter((digit) => counts[digit] === 0),
    hiddenPassion: DIGITS.filter((digit) => counts[digit] === highest),
  };
}
