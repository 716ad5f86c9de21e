/**
 * Apostrophes and the marks that transliterations write for ayn, hamza and the soft and hard signs; hyphens, period and
 * middle dot. They have no value and do not split a word, but divide it into segments.
 */
export const SEPARATOR = /[.·'\u2018\u2019\u02BC\u02BB\u02B9\u02BA\u02BE\u02BF\u00B4`\-\u2010-\u2013]/u;

/** Any space separator: ordinary, no-break, narrow, ideographic… */
export const SPACES = /\p{Zs}+/u;

/**
 * Latin letters that Unicode does not decompose, in lower case. The second row extends the European set by the same
 * rule, the base letter: schwa, and the hooked, barred and open letters of Azerbaijani and African orthographies.
 */
const UNDECOMPOSED: ReadonlyMap<string, string> = new Map(
  Object.entries({
    ...{
      œ: 'OE',
      æ: 'AE',
      ß: 'SS',
      ø: 'O',
      ł: 'L',
      đ: 'D',
      ð: 'D',
      þ: 'TH',
      ħ: 'H',
      ŧ: 'T',
      ı: 'I',
      ŋ: 'NG',
    },
    ...{
      ə: 'E',
      ɓ: 'B',
      ɖ: 'D',
      ɗ: 'D',
      ɛ: 'E',
      ǥ: 'G',
      ɨ: 'I',
      ɲ: 'N',
      ƙ: 'K',
      ɔ: 'O',
      ɵ: 'O',
      ʉ: 'U',
      ƴ: 'Y',
      ƶ: 'Z',
      ʒ: 'Z',
    },
  }),
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
