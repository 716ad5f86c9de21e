import { chain, type Figure, figure, reduce, root } from './arithmetic.js';
import type { CalendarDate } from './calendar.js';
import { groupSum } from './numbers.js';
import type { Letter, NameGroup, Word } from './words.js';

/** A part of life with one number. It starts and ends on birthdays: "from your 32nd birthday". */
export interface Stage extends Figure {
  /** from 1 */
  readonly index: number;
  /** years, inclusive */
  readonly fromAge: number;
  /** years, exclusive; null for the last stage */
  readonly toAge: number | null;
  readonly fromYear: number;
  readonly toYear: number | null;
  readonly current: boolean;
}

/**
 * Creates consecutive stages from birth, one per value. `thresholds` are the ages at which the later ones begin. The
 * values are already reduced, so a stage's chain contains only its value.
 */
export function stages(
  values: readonly number[],
  thresholds: readonly number[],
  birthYear: number,
  age: number,
): Stage[] {
  const starts = [0, ...thresholds];
  return values.map((value, at): Stage => {
    const fromAge = starts[at] ?? 0;
    const toAge = starts[at + 1] ?? null;
    return {
      index: at + 1,
      fromAge,
      toAge,
      fromYear: birthYear + fromAge,
      toYear: toAge === null ? null : birthYear + toAge,
      current: age >= fromAge && (toAge === null || age < toAge),
      ...figure(value),
    };
  });
}

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

/**
 * The four challenges, 0–8, never masters: C1 = |m − d|, C2 = |d − y|, main = |C1 − C2|, C4 = |m − y| over the roots of month,
 * day and year (Decoz). They have no dates: the first, second and fourth apply to early, middle and late life, the main one
 * to all of it.
 */
export function challenges(birth: CalendarDate) {
  const [month, day, year] = [root(birth.month), root(birth.day), root(birth.year)];
  const first = Math.abs(month - day);
  const second = Math.abs(day - year);
  return { first, second, main: Math.abs(first - second), fourth: Math.abs(month - year) };
}

type BirthdayOfYear = Pick<CalendarDate, 'month' | 'day'>;

/** Personal year: root(root m + root d + root year), January to December (Decoz), 1–9, never a master. */
export const personalYear = (birth: BirthdayOfYear, year: number): number =>
  root(root(birth.month) + root(birth.day) + root(year));

/** Personal month: root(personal year + calendar month). */
export const personalMonth = (birth: BirthdayOfYear, year: number, month: number): number =>
  root(personalYear(birth, year) + month);

/**
 * Transit letters and Essence at an age in completed years. First names give the physical letter, middle names the
 * mental one, last names the spiritual one. The names of a group are joined; each letter lasts its value in years, and
 * the group repeats. Without a middle name, the last names also give the mental letter. Essence = red(sum of the
 * three). Example (Decoz): Thomas Cruise Mapother at 20 has A, I, H.
 */
export function transitsAt(words: readonly Word[], age: number) {
  const physical = letterAt(words, 'first', age);
  const spiritual = letterAt(words, 'last', age);
  const hasMiddle = words.some(({ group }) => group === 'middle');
  const mental = hasMiddle ? letterAt(words, 'middle', age) : spiritual;
  const visited = chain(physical.value + mental.value + spiritual.value);
  return {
    transits: { physical: physical.letter, mental: mental.letter, spiritual: spiritual.letter },
    essence: { value: visited[visited.length - 1] ?? 0, chain: visited },
  };
}

function letterAt(words: readonly Word[], group: NameGroup, age: number): Letter {
  let left = age % groupSum(words, group);
  for (const word of words) {
    if (word.group !== group) continue;
    for (const letter of word.spelling) {
      if (left < letter.value) return letter;
      left -= letter.value;
    }
  }
  throw new RangeError('first and last names need at least one letter');
}

/** The cycles on the day of the reading. */
export const now = (birth: CalendarDate, words: readonly Word[], asOf: CalendarDate, age: number) => ({
  year: asOf.year,
  universalYear: root(asOf.year),
  personalYear: personalYear(birth, asOf.year),
  personalMonth: personalMonth(birth, asOf.year, asOf.month),
  nextPersonalYear: personalYear(birth, asOf.year + 1),
  ...transitsAt(words, age),
});
