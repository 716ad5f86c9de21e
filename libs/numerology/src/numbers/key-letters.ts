import type { Word } from '../name/words.js';

/** Letters of the first word that have a meaning of their own. */
export interface KeyLetters {
  /** the first letter */
  readonly cornerstone: string;
  /** the last letter */
  readonly capstone: string;
  /** the first vowel, including a vowel Y; null when the word has none */
  readonly firstVowel: string | null;
}

export const keyLetters = (first: Word): KeyLetters => ({
  cornerstone: first.letters.charAt(0),
  capstone: first.letters.charAt(first.letters.length - 1),
  firstVowel: first.spelling.find((letter) => letter.role === 'vowel')?.letter ?? null,
});
