import { isPlainVowel } from './letters.js';

export type LetterRole = 'vowel' | 'consonant';

/** The role of a letter in a folded segment: A E I O U are vowels, W never is, and Y depends on its position. */
export function roleAt(segment: string, at: number): LetterRole {
  const letter = segment.charAt(at);
  return isPlainVowel(letter) || (letter === 'Y' && isVowelY(segment, at)) ? 'vowel' : 'consonant';
}

/** Why a Y is what it is, by its place in the segment. The first four are vowels. */
export type YReason =
  | 'startBeforeConsonant'
  | 'end'
  | 'betweenConsonants'
  | 'onlyVowel'
  | 'startBeforeVowel'
  | 'afterVowel'
  | 'laterVowel';

const VOWEL_REASONS: readonly YReason[] = ['startBeforeConsonant', 'end', 'betweenConsonants', 'onlyVowel'];

const isVowelY = (segment: string, at: number): boolean => VOWEL_REASONS.includes(yReasonAt(segment, at));

/**
 * The positional Y rule, applied within the segment (`Marie-Yvonne` is MARIE | YVONNE):
 * - at the start, Y is a consonant before a vowel (Yann), else a vowel (Yves);
 * - at the end, Y is a consonant after a vowel (Roy), else a vowel (Mary);
 * - after a vowel, Y is a consonant (Maya, Taylor);
 * - between consonants, Y is a vowel (Lynn, Cyril);
 * - between consonant and vowel, Y is a vowel only when the segment has no earlier one (Bryan, but not Tanya).
 *
 * The rule reproduces the printed examples of the English school, which decides by sound.
 */
export function yReasonAt(segment: string, at: number): YReason {
  const previous = segment[at - 1];
  const next = segment[at + 1];
  if (previous === undefined) return isPlainVowel(next) ? 'startBeforeVowel' : 'startBeforeConsonant';
  if (isPlainVowel(previous)) return 'afterVowel';
  if (next === undefined) return 'end';
  if (!isPlainVowel(next)) return 'betweenConsonants';
  return /[AEIOU]/.test(segment.slice(0, at)) ? 'laterVowel' : 'onlyVowel';
}
