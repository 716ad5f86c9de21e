import { type Figure, figure, plainFigure } from '../arithmetic/figure.js';
import type { Word } from '../name/words.js';
import { sumOf } from './name-numbers.js';

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
