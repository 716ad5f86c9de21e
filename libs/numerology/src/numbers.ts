import {
  type Digit,
  DIGITS,
  type Figure,
  figure,
  indebtedFigure,
  type KarmicDebt,
  plainFigure,
  reduce,
} from './arithmetic.js';
import type { CalendarDate } from './calendar.js';
import type { Letter, LetterRole, NameGroup, Word } from './words.js';

/**
 * Life Path by components (Decoz, World Numerology): red(red(month) + red(day) + red(year)).
 * A karmic debt counts only in the final sum, not in a component.
 */
export function lifePath(birth: CalendarDate) {
  const parts = (['month', 'day', 'year'] as const).map((component) => ({
    component,
    value: reduce(birth[component]),
    from: birth[component],
  }));
  return { ...indebtedFigure(parts.reduce((sum, part) => sum + part.value, 0)), parts };
}

/** Birthday: red(day). Days 11, 22 and 29 (→ 11) give a master, days 13, 14, 16 and 19 a debt. */
export const birthday = (birth: CalendarDate) => ({ ...indebtedFigure(birth.day), day: birth.day });

export interface NameNumber extends Figure {
  /** each folded word, the sum of its letters, and that sum reduced, masters kept */
  readonly parts: readonly { readonly word: string; readonly sum: number; readonly value: number }[];
}

/** The Soul Urge of a name without a vowel, or the Personality of a name without a consonant. */
const ABSENT = {
  value: null,
  root: null,
  master: false,
  karmicDebt: null,
  chain: [],
  display: '–',
  parts: [],
} as const;

export type OptionalNameNumber = NameNumber | typeof ABSENT;

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
  const parts = words
    .map(({ letters, spelling }) => ({ word: letters, sum: sumLetters(spelling) }))
    .filter(({ sum }) => sum > 0)
    .map((part) => ({ ...part, value: reduce(part.sum) }));
  const [only] = parts;
  if (!only) return ABSENT;
  const total = parts.length === 1 ? only.sum : parts.reduce((sum, part) => sum + part.value, 0);
  return { ...indebtedFigure(total), parts };
}

/** Maturity: red(Life Path + Expression). Masters are added unreduced. */
export const maturity = (lifePath: Figure, expression: Figure): Figure =>
  figure(lifePath.value + expression.value);

/** Balance: root(Σ initials of all words). */
export const balance = (words: readonly Word[]): Figure =>
  plainFigure(sumOf(words.flatMap((word) => word.spelling.slice(0, 1))));

/** Rational Thought: root(Σ letters of the first word + day of birth). */
export const rationalThought = (words: readonly Word[], day: number): Figure =>
  plainFigure(sumOf(words[0]?.spelling ?? []) + day);

/** Subconscious Self: 9 − number of karmic lessons, 1–9. */
export const subconsciousSelf = (lessons: readonly number[]): Figure => plainFigure(9 - lessons.length);

/** All numbers of the theme that do not depend on the day of the reading. */
export function numbers(birth: CalendarDate, words: readonly Word[], lessons: readonly number[]) {
  const path = lifePath(birth);
  const expressed = expression(words);
  return {
    lifePath: path,
    birthday: birthday(birth),
    expression: expressed,
    soulUrge: soulUrge(words),
    personality: personality(words),
    active: groupNumber(words, 'first'),
    heredity: groupNumber(words, 'last'),
    maturity: maturity(path, expressed),
    balance: balance(words),
    rationalThought: rationalThought(words, birth.day),
    subconsciousSelf: subconsciousSelf(lessons),
  };
}

export type Numbers = ReturnType<typeof numbers>;

const INDEBTED = ['lifePath', 'birthday', 'expression', 'soulUrge', 'personality'] as const;

export interface KarmicDebtAt {
  readonly debt: KarmicDebt;
  /** path of the number inside the result */
  readonly at: `numbers.${(typeof INDEBTED)[number]}`;
}

/** The karmic debts 13, 14, 16 and 19, with their paths; only of Life Path, Birthday and the three name numbers. */
export const karmicDebts = (all: Pick<Numbers, (typeof INDEBTED)[number]>): KarmicDebtAt[] =>
  INDEBTED.flatMap((key) => {
    const debt = all[key].karmicDebt;
    return debt === null ? [] : [{ debt, at: `numbers.${key}` as const }];
  });

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

export type PlaneName = 'physical' | 'mental' | 'emotional' | 'intuitive';

/** Letters of each plane of expression. Two published code bases agree on them. */
export const PLANE_LETTERS: Readonly<Record<PlaneName, string>> = {
  physical: 'DEMW',
  mental: 'AGHJLNP',
  emotional: 'BIORSTXZ',
  intuitive: 'CFKQUVY',
};

/** `count` letters, the `sum` of their values, and its reduced `value`; 0 for an empty plane. */
const plane = (letters: readonly Letter[], members: string) => {
  const own = letters.filter(({ letter }) => members.includes(letter));
  return { count: own.length, sum: sumOf(own), value: reduce(sumOf(own)) };
};

export const planes = (letters: readonly Letter[]) => ({
  physical: plane(letters, PLANE_LETTERS.physical),
  mental: plane(letters, PLANE_LETTERS.mental),
  emotional: plane(letters, PLANE_LETTERS.emotional),
  intuitive: plane(letters, PLANE_LETTERS.intuitive),
});

export type Planes = ReturnType<typeof planes>;

/** Letters of the first word that have a meaning of their own: the first, the last and the first vowel, if it has one. */
export const keyLetters = ({ letters, spelling }: Word) => ({
  cornerstone: letters.charAt(0),
  capstone: letters.charAt(letters.length - 1),
  /** a vowel Y counts */
  firstVowel: spelling.find(({ role }) => role === 'vowel')?.letter ?? null,
});

interface Rooted {
  readonly root: number | null;
}

/** Distances between the roots of related numbers, 0–8; null if one of them is absent. */
export const bridges = (
  lifePath: { readonly root: number },
  expression: { readonly root: number },
  soulUrge: Rooted,
  personality: Rooted,
) => ({
  lifePathExpression: Math.abs(lifePath.root - expression.root),
  soulUrgePersonality:
    soulUrge.root === null || personality.root === null ? null : Math.abs(soulUrge.root - personality.root),
});

export type Bridges = ReturnType<typeof bridges>;
