import type { Digit } from '../arithmetic/reduce.js';

/**
 * The Pythagorean value of a folded letter `A`–`Z`: A J S = 1, B K T = 2, … H Q Z = 8, I R = 9.
 * The English and the French school use the same table.
 */
export const letterValue = (letter: string): Digit => (((letter.charCodeAt(0) - 65) % 9) + 1) as Digit;

export const isPlainVowel = (letter: string | undefined): boolean =>
  letter !== undefined && 'AEIOU'.includes(letter);
