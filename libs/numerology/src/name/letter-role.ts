import { isPlainVowel } from './letters.js';

export type LetterRole = 'vowel' | 'consonant';

/** The role of the letter at an index of a folded segment: A E I O U are vowels, W never is, Y goes by its place. */
export function roleAt(segment: string, at: number): LetterRole {
  const letter = segment.charAt(at);
  return isPlainVowel(letter) || (letter === 'Y' && isVowelY(segment, at)) ? 'vowel' : 'consonant';
}

/**
 * The positional Y rule. Inside its own segment (`Marie-Yvonne` is MARIE | YVONNE) Y is
 * - at the start a vowel unless a vowel follows: Yves vowel, Yann consonant;
 * - at the end a vowel unless a vowel precedes: Mary vowel, Roy consonant;
 * - after a vowel a consonant: Maya, Taylor; between consonants a vowel: Lynn, Cyril;
 * - between consonant and vowel the vowel only if the segment had none before: Bryan vowel, Tanya consonant.
 *
 * It reproduces the printed examples of the English school, which goes by sound.
 */
function isVowelY(segment: string, at: number): boolean {
  const previous = segment[at - 1];
  const next = segment[at + 1];
  if (previous === undefined) return !isPlainVowel(next);
  if (isPlainVowel(previous)) return false;
  if (!isPlainVowel(next)) return true;
  return !/[AEIOU]/.test(segment.slice(0, at));
}
