import type { Word } from '../name/words.js';

/** Letters of the first word that are read on their own. */
export interface KeyLetters {
  /** the first letter */
  readonly cornerstone: string;
  /** the last letter */
  readonly capstone: string;
  /** the first vowel, a vowel Y included; null if the word has none */
  readonly firstVowel: string | null;
}

export const keyLetters = (first: Word): KeyLetters => ({
  cornerstone: first.letters.charAt(0),
  capstone: first.letters.charAt(first.letters.length - 1),
  firstVowel: first.spelling.find((letter) => letter.role === 'vowel')?.letter ?? null,
});
