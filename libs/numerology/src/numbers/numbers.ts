import type { Figure, KarmicDebt } from '../arithmetic/figure.js';
import type { CalendarDate } from '../calendar/calendar-date.js';
import type { Word } from '../name/words.js';
import { type Birthday, birthday, type LifePath, lifePath } from './life-path.js';
import { balance, maturity, rationalThought, subconsciousSelf } from './minor-numbers.js';
import {
  expression,
  groupNumber,
  type NameNumber,
  type OptionalNameNumber,
  personality,
  soulUrge,
} from './name-numbers.js';

export interface Numbers {
  readonly lifePath: LifePath;
  readonly birthday: Birthday;
  readonly expression: NameNumber;
  readonly soulUrge: OptionalNameNumber;
  readonly personality: OptionalNameNumber;
  readonly active: Figure;
  readonly heredity: Figure;
  readonly maturity: Figure;
  readonly balance: Figure;
  readonly rationalThought: Figure;
  readonly subconsciousSelf: Figure;
}

/** All numbers of the theme that do not depend on the day of the reading. */
export function numbers(birth: CalendarDate, words: readonly Word[], lessons: readonly number[]): Numbers {
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
