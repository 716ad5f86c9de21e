import type { Digit } from '../arithmetic/reduce.js';
import { foldToSegments, SPACES } from './fold.js';
import { type LetterRole, roleAt, type YReason, yReasonAt } from './letter-role.js';
import { letterValue } from './letters.js';
import type { StructuredName } from './structured-name.js';

export type NameGroup = 'first' | 'middle' | 'last';

/** One letter of the letter strip. */
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
 * Folds a name to its words, in the order first, middle, last. Spaces split an element; hyphens, apostrophes and
 * periods do not: `Jean-Pierre` and `d'Arc` are one word, `de Gaulle` is two. A final Jr, Sr or II–V after another
 * last-name word is ignored (McClain: it is not part of the birth name).
 */
export function foldToWords(name: StructuredName): FoldedName {
  const last = wordsOf(name.lastNames, 'last');
  const suffix = last.length > 1 && SUFFIX.test(last[last.length - 1]?.source ?? '') ? last.splice(-1) : [];
  return {
    words: [...wordsOf(name.firstNames, 'first'), ...wordsOf(name.middleNames, 'middle'), ...last],
    ignored: suffix,
  };
}

/**
 * Why each Y of a word is a vowel or a consonant, in the order of the letters, with the part of a hyphenated word that
 * decides it, folded to `A`–`Z`.
 * @param source one word in the caller's spelling
 */
export const yReasonsOf = (source: string): { readonly part: string; readonly reason: YReason }[] =>
  foldToSegments(source).flatMap((part) =>
    [...part].flatMap((letter, at) => (letter === 'Y' ? [{ part, reason: yReasonAt(part, at) }] : [])),
  );

/** All letters of the given words, in order. */
export function lettersOf(words: readonly Word[]): Letter[] {
  const letters: Letter[] = [];
  for (const word of words) letters.push(...word.spelling);
  return letters;
}

// Matches the caller's spelling: `J.R.` are initials, and a word that only folds to these letters is a name.
const SUFFIX = /^(?:jr|sr|ii|iii|iv|v)\.?$/i;

function wordsOf(elements: readonly string[], group: NameGroup): Word[] {
  const words: Word[] = [];
  for (const element of elements) {
    for (const source of element.split(SPACES)) {
      const spelling = spell(source);
      if (spelling.length > 0) words.push({ source, letters: joined(spelling), group, spelling });
    }
  }
  return words;
}

function spell(word: string): Letter[] {
  const spelling: Letter[] = [];
  for (const segment of foldToSegments(word)) {
    for (let at = 0; at < segment.length; at += 1) {
      const letter = segment.charAt(at);
      spelling.push({ letter, value: letterValue(letter), role: roleAt(segment, at) });
    }
  }
  return spelling;
}

const joined = (spelling: readonly Letter[]): string =>
  spelling.reduce((text, { letter }) => text + letter, '');
