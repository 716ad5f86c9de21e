import { ageOn, requireDate } from './calendar/calendar-date.js';
import { type Challenges, challenges } from './cycles/challenges.js';
import { type Now, now } from './cycles/now.js';
import { periods } from './cycles/periods.js';
import { pinnacles } from './cycles/pinnacles.js';
import type { Stage } from './cycles/stage.js';
import { type Normalization, normalization } from './name/normalization.js';
import { displayName, type StructuredName } from './name/structured-name.js';
import { foldToWords, lettersOf } from './name/words.js';
import { type Bridges, bridges } from './numbers/bridges.js';
import { type Grid, grid } from './numbers/grid.js';
import { type KeyLetters, keyLetters } from './numbers/key-letters.js';
import { type KarmicDebtAt, karmicDebts, type Numbers, numbers } from './numbers/numbers.js';
import { type Planes, planes } from './numbers/planes.js';
import type { SubjectGender } from './subject-gender.js';
import { type Synthesis, synthesis } from './synthesis/synthesis.js';

export interface ThemeSubject {
  /** valid by `checkName` */
  readonly name: StructuredName;
  /** valid by `checkDateOfBirth` */
  readonly dateOfBirth: string;
  readonly subjectGender: SubjectGender;
}

export interface Cycles {
  readonly periods: readonly Stage[];
  readonly pinnacles: readonly Stage[];
  readonly challenges: Challenges;
}

/** The full calculation of method `evan-1` for a person on a day: plain JSON with a fixed key order. */
export interface Theme {
  /** `YYYY-MM-DD` */
  readonly asOf: string;
  /** completed years at `asOf` */
  readonly age: number;
  readonly subject: {
    /** the caller's spelling without surplus spaces */
    readonly displayName: string;
    readonly dateOfBirth: string;
    readonly subjectGender: SubjectGender;
  };
  readonly normalization: Normalization;
  readonly numbers: Numbers;
  readonly grid: Grid;
  readonly planes: Planes;
  readonly letters: KeyLetters;
  readonly karmicDebts: readonly KarmicDebtAt[];
  readonly bridges: Bridges;
  readonly cycles: Cycles;
  readonly now: Now;
  readonly synthesis: Synthesis;
}

/**
 * Calculates the theme of a person on the day `asOf` (`YYYY-MM-DD`). The same input gives the same bytes. No number
 * depends on gender or locale. Throws a RangeError for input that `checkName` or `checkDateOfBirth` refuses.
 */
export function calculateTheme(subject: ThemeSubject, asOf: string): Theme {
  const birth = requireDate(subject.dateOfBirth);
  const today = requireDate(asOf);
  const age = ageOn(birth, today);

  const folded = foldToWords(subject.name);
  const { words } = folded;
  const [firstWord] = words;
  if (!firstWord) throw new RangeError('a name needs at least one letter');
  const letters = lettersOf(words);

  const inclusion = grid(letters);
  const all = numbers(birth, words, inclusion.lessons);
  const spans = bridges(all.lifePath, all.expression, all.soulUrge, all.personality);
  const cycles: Cycles = {
    periods: periods(birth, all.lifePath.root, age),
    pinnacles: pinnacles(birth, all.lifePath.root, age),
    challenges: challenges(birth),
  };

  return {
    asOf,
    age,
    subject: {
      displayName: displayName(subject.name),
      dateOfBirth: subject.dateOfBirth,
      subjectGender: subject.subjectGender,
    },
    normalization: normalization(folded),
    numbers: all,
    grid: inclusion,
    planes: planes(letters),
    letters: keyLetters(firstWord),
    karmicDebts: karmicDebts(all),
    bridges: spans,
    cycles,
    now: now(birth, words, today, age),
    synthesis: synthesis({ age, numbers: all, grid: inclusion, bridges: spans, cycles }),
  };
}
