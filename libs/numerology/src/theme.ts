import { MASTERS } from './arithmetic.js';
import { ageOn, requireDate } from './calendar.js';
import { challenges, now, periods, pinnacles } from './cycles.js';
import { bridges, grid, karmicDebts, keyLetters, numbers, planes } from './numbers.js';
import type { SubjectGender } from './subject-gender.js';
import { synthesis } from './synthesis.js';
import { displayName, foldToWords, lettersOf, normalization, type StructuredName } from './words.js';

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

/**
 * The full calculation of method `evan-1` for a person on the day `asOf` (`YYYY-MM-DD`): plain JSON with a fixed key order, so
 * the same input gives the same bytes. No number depends on gender or locale. Throws a RangeError for input that
 * `checkName` or `checkDateOfBirth` refuses.
 */
export function calculateTheme(subject: ThemeSubject, asOf: string) {
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
  const cycles = {
    periods: periods(birth, all.lifePath.root, age),
    pinnacles: pinnacles(birth, all.lifePath.root, age),
    challenges: challenges(birth),
  };

  return {
    asOf,
    /** completed years at `asOf` */
    age,
    subject: {
      /** the caller's spelling without surplus spaces */
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

export type Theme = ReturnType<typeof calculateTheme>;
export type Locale = 'fr-FR' | 'en-US';

interface ResultEnvelope {
  readonly readingId: string;
  readonly locale: Locale;
  readonly contentVersion: string;
  readonly formats: readonly string[];
}

/**
 * The public result of a theme. Its key order is fixed, so that `JSON.stringify` always gives the same bytes.
 * `schema/result.schema.json`: a new field is 1.x, a changed meaning 2.0.
 */
export const toResult = (theme: Theme, { readingId, locale, contentVersion, formats }: ResultEnvelope) => ({
  resultVersion: '1.0' as const,
  readingId,
  productId: 'theme' as const,
  profileId: 'evan' as const,
  locale,
  method: METHOD,
  engineVersion: ENGINE_VERSION,
  contentVersion,
  ...theme,
  document: { formats },
});

/** The result of a completed reading. */
export type ReadingResult = ReturnType<typeof toResult>;
