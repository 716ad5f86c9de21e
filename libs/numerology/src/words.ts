import type { Digit } from './arithmetic.js';

/** A birth name, split by the caller. */
export interface StructuredName {
  readonly firstNames: readonly string[];
  readonly middleNames: readonly string[];
  readonly lastNames: readonly string[];
}

/** First, middle and last names in the caller's spelling, without surplus spaces: as answers and documents show it. */
export const displayName = ({ firstNames, middleNames, lastNames }: StructuredName): string =>
  [...firstNames, ...middleNames, ...lastNames]
    .join(' ')
    .split(/\p{Zs}+/u)
    .filter(Boolean)
    .join(' ');

/**
 * Apostrophes and the marks that transliterations write for ayn, hamza and the soft and hard signs; hyphens, period and
 * middle dot. They have no value and do not split a word, but divide it into segments.
 */
export const SEPARATOR = /[.·'\u2018\u2019\u02BC\u02BB\u02B9\u02BA\u02BE\u02BF\u00B4`\-\u2010-\u2013]/u;

/** Any space separator: ordinary, no-break, narrow, ideographic… */
export const SPACES = /\p{Zs}+/u;

/**
 * Latin letters that Unicode does not decompose, in lower case, each with its base letters. The second line extends the
 * European set by the same rule: schwa, and the hooked, barred and open letters of Azerbaijani and African orthographies.
 */
const UNDECOMPOSED: ReadonlyMap<string, string> = new Map(
  ['œOE æAE ßSS øO łL đD ðD þTH ħH ŧT ıI ŋNG', 'əE ɓB ɖD ɗD ɛE ǥG ɨI ɲN ƙK ɔO ɵO ʉU ƴY ƶZ ʒZ'].flatMap(
    (line) => line.split(' ').map((each) => [each.charAt(0), each.slice(1)] as const),
  ),
);

/**
 * Folds one word to the capital letters A–Z of each segment, without empty segments. NFKD removes diacritics and splits
 * ligatures; ä ö ü å become their base letters, not AE OE UE AA. Independent of any locale. Drops characters without a
 * counterpart, since `checkName` has refused them before.
 */
export function foldToSegments(word: string): string[] {
  const segments: string[] = [];
  let segment = '';
  // NFKD would turn the acute accent used as an apostrophe into a space and a combining mark.
  for (const character of word.replaceAll('\u00B4', "'").normalize('NFKD')) {
    const letters = foldCharacter(character);
    if (letters) {
      segment += letters;
    } else if (SEPARATOR.test(character)) {
      if (segment) segments.push(segment);
      segment = '';
    }
  }
  if (segment) segments.push(segment);
  return segments;
}

/** The letters A–Z of a decomposed character; empty for a separator or a combining mark. */
function foldCharacter(character: string): string {
  if (character >= 'A' && character <= 'Z') return character;
  if (character >= 'a' && character <= 'z') return character.toUpperCase();
  return UNDECOMPOSED.get(character.toLowerCase()) ?? '';
}

/**
 * The Pythagorean value of a folded letter `A`–`Z`: A J S = 1, B K T = 2, … H Q Z = 8, I R = 9.
 * The English and the French school use the same table.
 */
export const letterValue = (letter: string): Digit => (((letter.charCodeAt(0) - 65) % 9) + 1) as Digit;

export const isPlainVowel = (letter: string | undefined): boolean =>
  letter !== undefined && 'AEIOU'.includes(letter);

export type LetterRole = 'vowel' | 'consonant';

/** The role of a letter in a folded segment: A E I O U are vowels, W never is, and Y depends on its position. */
export function roleAt(segment: string, at: number): LetterRole {
  const letter = segment.charAt(at);
  return isPlainVowel(letter) || (letter === 'Y' && isVowelY(segment, at)) ? 'vowel' : 'consonant';
}

const VOWEL_REASONS = ['startBeforeConsonant', 'end', 'betweenConsonants', 'onlyVowel'] as const;

/** Why a Y is what it is, by its place in the segment. */
export type YReason = (typeof VOWEL_REASONS)[number] | 'startBeforeVowel' | 'afterVowel' | 'laterVowel';

const isVowelY = (segment: string, at: number): boolean =>
  VOWEL_REASONS.some((reason) => reason === yReasonAt(segment, at));

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
export const lettersOf = (words: readonly Word[]): Letter[] => words.flatMap(({ spelling }) => spelling);

// Matches the caller's spelling: `J.R.` are initials, and a word that only folds to these letters is a name.
const SUFFIX = /^(?:jr|sr|ii|iii|iv|v)\.?$/i;

const wordsOf = (elements: readonly string[], group: NameGroup): Word[] =>
  elements
    .flatMap((element) => element.split(SPACES))
    .map((source) => ({ source, letters: foldToSegments(source).join(''), group, spelling: spell(source) }))
    .filter(({ letters }) => letters !== '');

const spell = (word: string): Letter[] =>
  foldToSegments(word).flatMap((segment) =>
    [...segment].map((letter, at) => ({ letter, value: letterValue(letter), role: roleAt(segment, at) })),
  );

const shown = ({ source, letters, group }: Word) => ({ source, letters, group });

/** How the name was interpreted; printed in the annex of a document. */
export const normalization = ({ words, ignored }: FoldedName) => ({
  words: words.map(shown),
  /** of each Y, in order of appearance, with indexes from 0 into `words` and the folded letters of the word */
  yRoles: words.flatMap((word, wordIndex) =>
    word.spelling.flatMap(({ letter, role }, letterIndex) =>
      letter === 'Y' ? [{ word: word.letters, wordIndex, letterIndex, role }] : [],
    ),
  ),
  letterCount: words.reduce((count, word) => count + word.letters.length, 0),
  /** present only when a generational suffix was ignored */
  ...(ignored.length > 0 && {
    ignored: ignored.map((word) => ({ ...shown(word), reason: 'suffix' as const })),
  }),
});
