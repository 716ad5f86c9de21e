import { type Figure, figure, indebtedFigure } from '../arithmetic/figure.js';
import { reduce } from '../arithmetic/reduce.js';
import type { LetterRole } from '../name/letter-role.js';
import type { Letter, NameGroup, Word } from '../name/words.js';

export interface WordPart {
  /** folded */
  readonly word: string;
  readonly sum: number;
  /** the sum reduced, masters kept */
  readonly value: number;
}

export interface NameNumber extends Figure {
  readonly parts: readonly WordPart[];
}

/** The Soul Urge of a name without a vowel, or the Personality of a name without a consonant. */
export interface AbsentNumber {
  readonly value: null;
  readonly root: null;
  readonly master: false;
  readonly karmicDebt: null;
  readonly chain: readonly [];
  readonly display: '–';
  readonly parts: readonly [];
}

export type OptionalNameNumber = NameNumber | AbsentNumber;

const ABSENT: AbsentNumber = {
  value: null,
  root: null,
  master: false,
  karmicDebt: null,
  chain: [],
  display: '–',
  parts: [],
};

/**
 * Expression: red(Σ over words of red(Σ letters)). Decoz reduces each name before adding. One sum of all letters would
 * have the same root but other masters. A single word keeps its own chain (Lucy: 16 → 7, debt 16).
 * Throws a RangeError when there are no letters.
 */
export function expression(words: readonly Word[]): NameNumber {
  const number = byWord(words, sumOf);
  if (number.value === null) throw new RangeError('a name needs at least one letter');
  return number;
}

/** Soul Urge: the same rule for vowels; skips words without a vowel. */
export const soulUrge = (words: readonly Word[]): OptionalNameNumber => byWord(words, sumOfRole('vowel'));

/** Personality: the same rule for consonants; skips words without a consonant. */
export const personality = (words: readonly Word[]): OptionalNameNumber =>
  byWord(words, sumOfRole('consonant'));

/** Active (all first names) and Heredity (all last names): red(Σ letters of the group), as one sum. */
export const groupNumber = (words: readonly Word[], group: NameGroup): Figure =>
  figure(groupSum(words, group));

/** Sum of all letters of one group; 0 when it has none. */
export const groupSum = (words: readonly Word[], group: NameGroup): number =>
  words.reduce((sum, word) => (word.group === group ? sum + sumOf(word.spelling) : sum), 0);

export const sumOf = (letters: readonly Letter[]): number =>
  letters.reduce((sum, letter) => sum + letter.value, 0);

const sumOfRole =
  (role: LetterRole) =>
  (letters: readonly Letter[]): number =>
    letters.reduce((sum, letter) => (letter.role === role ? sum + letter.value : sum), 0);

function byWord(
  words: readonly Word[],
  sumLetters: (letters: readonly Letter[]) => number,
): OptionalNameNumber {
  const parts: WordPart[] = [];
  for (const word of words) {
    const sum = sumLetters(word.spelling);
    if (sum > 0) parts.push({ word: word.letters, sum, value: reduce(sum) });
  }
  const [only] = parts;
  if (!only) return ABSENT;
  const total = parts.length === 1 ? only.sum : parts.reduce((sum, part) => sum + part.value, 0);
  return { ...indebtedFigure(total), parts };
}
