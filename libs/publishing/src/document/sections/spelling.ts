import { chain, letterValue, type NameGroup, type ReadingResult } from '#numerology/index.js';
import type { Composer } from '../composer.js';

/** One letter of the name as it is counted. */
export interface CountedLetter {
  /** `A`–`Z` */
  readonly letter: string;
  readonly value: number;
  readonly vowel: boolean;
}

/** One word of the name as it is counted. */
export interface CountedWord {
  readonly source: string;
  readonly letters: string;
  readonly group: NameGroup;
  readonly spelling: readonly CountedLetter[];
}

/** The date of birth as whole numbers. */
export const birthOf = ({ result }: Composer) => {
  const [year = 0, month = 0, day = 0] = result.subject.dateOfBirth.split('-').map(Number);
  return { year, month, day };
};

const PLAIN_VOWELS = 'AEIOU';

/** The words of the name, with the value and the role of each letter. */
export const countedWords = ({ normalization }: ReadingResult): CountedWord[] =>
  normalization.words.map(({ source, letters, group }, wordIndex) => ({
    source,
    letters,
    group,
    spelling: [...letters].map((letter, letterIndex) => ({
      letter,
      value: letterValue(letter),
      vowel:
        PLAIN_VOWELS.includes(letter) ||
        normalization.yRoles.some(
          (y) => y.wordIndex === wordIndex && y.letterIndex === letterIndex && y.role === 'vowel',
        ),
    })),
  }));

export const total = (letters: readonly { readonly value: number }[]): number =>
  letters.reduce((sum, { value }) => sum + value, 0);

const ARROW = ' → ';
/** « A 1 »: a letter stays with its value. */
export const lettered = ({ letter, value }: Pick<CountedLetter, 'letter' | 'value'>): string =>
  `${letter}\u00A0${value}`;

/** « 1990 → 19 → 10 → 1 »: every step of a reduction. */
export const steps = (from: number, keepMasters = true): string => chain(from, keepMasters).join(ARROW);

/** « 6 + 6 + 1 = 13 → 4 »: what is added, then each step of the reduction. */
export const added = (addends: readonly number[], keepMasters = true): string => {
  const sum = addends.reduce((whole, addend) => whole + addend, 0);
  return addends.length > 1 ? `${addends.join(' + ')} = ${steps(sum, keepMasters)}` : steps(sum, keepMasters);
};

/** « C 3 + A 1 = 4 », with each letter before its value; a dash if there is none. */
export const addedLetters = (letters: readonly CountedLetter[], keepMasters = true): string => {
  if (letters.length === 0) return '–';
  const addends = letters.map(lettered).join(' + ');
  return letters.length === 1 ? addends : `${addends} = ${steps(total(letters), keepMasters)}`;
};

const MINUS = '\u2212';
/** « 37 − 4 = 33 » */
export const subtracted = (from: number, less: number): string => `${from} ${MINUS} ${less} = ${from - less}`;
