import type { LetterRole } from './letter-role.js';
import type { FoldedName, NameGroup } from './words.js';

/** How the name was interpreted; printed in the annex of a document. */
export interface Normalization {
  readonly words: readonly NormalizedWord[];
  /** the role of each Y, in order of appearance */
  readonly yRoles: readonly YRole[];
  readonly letterCount: number;
  /** present only when a generational suffix was ignored */
  readonly ignored?: readonly IgnoredWord[];
}

export interface NormalizedWord {
  /** the caller's spelling */
  readonly source: string;
  /** folded, `A`–`Z` */
  readonly letters: string;
  readonly group: NameGroup;
}

export interface IgnoredWord extends NormalizedWord {
  readonly reason: 'suffix';
}

export interface YRole {
  /** folded letters of the word that contains the Y */
  readonly word: string;
  /** index into `words`, from 0 */
  readonly wordIndex: number;
  /** index into the folded letters, from 0 */
  readonly letterIndex: number;
  readonly role: LetterRole;
}

export function normalization({ words, ignored }: FoldedName): Normalization {
  return {
    words: words.map(({ source, letters, group }) => ({ source, letters, group })),
    yRoles: words.flatMap((word, wordIndex) =>
      word.spelling.flatMap(({ letter, role }, letterIndex) =>
        letter === 'Y' ? [{ word: word.letters, wordIndex, letterIndex, role }] : [],
      ),
    ),
    letterCount: words.reduce((count, word) => count + word.letters.length, 0),
    ...(ignored.length > 0 && {
      ignored: ignored.map(({ source, letters, group }) => ({
        source,
        letters,
        group,
        reason: 'suffix' as const,
      })),
    }),
  };
}
