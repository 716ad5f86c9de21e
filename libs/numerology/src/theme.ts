import { MASTERS } from './arithmetic.js';
import { ageOn, requireDate } from './calendar.js';
import { type Challenges, challenges, type Now, now, periods, pinnacles, type Stage } from './cycles.js';
import {
  type Bridges,
  bridges,
  type Grid,
  grid,
  type KarmicDebtAt,
  karmicDebts,
  type KeyLetters,
  keyLetters,
  numbers,
  type Numbers,
  planes,
  type Planes,
} from './numbers.js';
import type { SubjectGender } from './subject-gender.js';
import { type Synthesis, synthesis } from './synthesis.js';
import {
  displayName,
  foldToWords,
  lettersOf,
  type Normalization,
  normalization,
  type StructuredName,
} from './words.js';

/** Version of the calculation. A change to any number is at least a new minor version. */
export const ENGINE_VERSION: string = '1.0.0';

/** The conventions of profile `evan`, included in every result. */
const METHOD = {
  id: 'evan-1',
  letters: 'pythagorean',
  nameReduction: 'by-word',
  yRule: 'positional',
  lifePath: 'components',
  masters: MASTERS,
  periodAges: 'decoz',
} as const;

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

export type Locale = 'fr-FR' | 'en-US';

/** The result of a completed reading: `schema/result.schema.json`. A new field is 1.x, a changed meaning 2.0. */
export interface ReadingResult extends Theme {
  readonly resultVersion: '1.0';
  readonly readingId: string;
  readonly productId: 'theme';
  readonly profileId: 'evan';
  readonly locale: Locale;
  readonly method: typeof METHOD;
  readonly engineVersion: string;
  readonly contentVersion: string;
  readonly document: { readonly formats: readonly string[] };
}

export interface ResultEnvelope {
  readonly readingId: string;
  readonly locale: Locale;
  readonly contentVersion: string;
  readonly formats: readonly string[];
}

/** The public result of a theme. Its key order is fixed, so that `JSON.stringify` always gives the same bytes. */
export const toResult = (theme: Theme, envelope: ResultEnvelope): ReadingResult => ({
  resultVersion: '1.0',
  readingId: envelope.readingId,
  productId: 'theme',
  profileId: 'evan',
  locale: envelope.locale,
  method: METHOD,
  engineVersion: ENGINE_VERSION,
  contentVersion: envelope.contentVersion,
  ...theme,
  document: { formats: envelope.formats },
});
