import type { Digit } from '../arithmetic/reduce.js';
import { foldToSegments, SPACES } from './fold.js';
import { type LetterRole, letterRoles } from './letter-roles.js';
import { letterValue } from './letters.js';
import type { StructuredName } from './structured-name.js';

export type NameGroup = 'first' | 'middle' | 'last';

/** One letter as the letter strip shows it. */
export interface Letter {
  /** `A`–`Z` */
  readonly letter: string;
  readonly value: Digit;
  readonly role: LetterRole;
}

export interface Word {
  /** the caller's spelling */
  readonly source: string;
  /** folded, `A`–`Z` */
  readonly letters: string;
  readonly group: NameGroup;
  readonly spelling: readonly Letter[];
}

export interface FoldedName {
  readonly words: readonly Word[];
  /** a generational suffix that is displayed but carries no value; at most one */
  readonly ignored: readonly Word[];
}

/**
 * Folds a name to its words, in the order first, middle, last. Elements split on spaces; a hyphen, an apostrophe or a
 * period does not split (`Jean-Pierre` is one word, `d'Arc` is one word, `de Gaulle` is two). A final Jr, Sr or II–V
 * that follows another last-name word is set aside (McClain: it is not part of the name given at birth).
 */
export function foldToWords(name: StructuredName): FoldedName {
  const last = wordsOf(name.lastNames, 'last');
  const suffix = last.length > 1 && isSuffix(last[last.length - 1]) ? last.splice(-1) : [];
  return {
    words: [...wordsOf(name.firstNames, 'first'), ...wordsOf(name.middleNames, 'middle'), ...last],
    ignored: suffix,
  };
}

/** All letters of the given words, in order. */
export const lettersOf = (words: readonly Word[]): Letter[] => words.flatMap((word) => word.spelling);

const SUFFIX = /^(JR|SR|II|III|IV|V)$/;

// `J.R.` folds to the letters of `Jr.`, but its period inside marks initials.
const isSuffix = (word: Word | undefined): boolean =>
  word !== undefined && SUFFIX.test(word.letters) && foldToSegments(word.source).length === 1;

function wordsOf(elements: readonly string[], group: NameGroup): Word[] {
  return elements.flatMap((element) => element.split(SPACES)).flatMap((source) => foldWord(source, group));
}

function foldWord(source: string, group: NameGroup): Word[] {
  const segments = foldToSegments(source);
  if (segments.length === 0) return [];
  const roles = segments.flatMap(letterRoles);
  const letters = segments.join('');
  const spelling = roles.map((role, at): Letter => {
    const letter = letters.charAt(at);
    return { letter, value: letterValue(letter), role };
  });
  return [{ source, letters, group, spelling }];
}
