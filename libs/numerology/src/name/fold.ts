/** Apostrophes, hyphens, period and middle dot: they carry no value, never split a word, but cut it into segments. */
export const SEPARATOR = /[.·'\u2018\u2019\u02BC\u02BB\u00B4`\-\u2010-\u2013]/u;

/** Any space separator: ordinary, no-break, narrow, ideographic… */
export const SPACES = /\p{Zs}+/u;

/**
 * Latin letters that Unicode does not decompose, in lower case. The second row (schwa and the hooked, barred and open
 * letters of Azerbaijani and African orthographies) goes beyond the European set by the same rule: the base letter.
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
      ƙ: 'K',
      ɔ: 'O',
      ɵ: 'O',
      ʉ: 'U',
      ƴ: 'Y',
      ƶ: 'Z',
    },
  }),
);

/**
 * Folds one word to the capital letters A–Z of each of its segments, empty segments left out.
 * NFKD strips diacritics and opens ligatures; ä ö ü å become their base letters, not AE OE UE AA.
 * Nothing here depends on a locale. A character that has no counterpart is dropped: `checkName` refuses it earlier.
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

/** The letters A–Z a decomposed character stands for; none for a separator or a combining mark. */
function foldCharacter(character: string): string {
  if (character >= 'A' && character <= 'Z') return character;
  if (character >= 'a' && character <= 'z') return character.toUpperCase();
  return UNDECOMPOSED.get(character.toLowerCase()) ?? '';
}
