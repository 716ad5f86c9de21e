import { describe, expect, it } from '@jest/globals';
import { foldToWords, yReasonsOf } from './words.js';

const read = (...lastNames: string[]) => {
  const { words, ignored } = foldToWords({ firstNames: ['John'], middleNames: [], lastNames });
  return { last: words.slice(1).map(({ letters }) => letters), ignored: ignored.map(({ source }) => source) };
};
const rolesOf = (firstName: string, wanted: RegExp): string[] =>
  foldToWords({ firstNames: [firstName], middleNames: [], lastNames: [] })
    .words.flatMap((word) => word.spelling)
    .filter(({ letter }) => wanted.test(letter))
    .map(({ role }) => role);

describe('folding a name', () => {
  it.each([
    ['ﬁ ĳ Ａ', ['FI', 'IJ', 'A']],
    ['Gabriel·la Gabrieŀla', ['GABRIELLA', 'GABRIELLA']],
    ["O'Neil O’Neil OʼNeil OʻNeil O´Neil O`Neil O‘Neil", Array.from({ length: 7 }, () => 'ONEIL')],
    ['Æbelø ẞ Ŋ Ħ Ŧ', ['AEBELO', 'SS', 'NG', 'H', 'T']],
    ['Əliyev Ɗan', ['ELIYEV', 'DAN']],
    ['ʿAlī Qurʾān Olʹga Obʺezd', ['ALI', 'QURAN', 'OLGA', 'OBEZD']],
    ['İ I i ı', ['I', 'I', 'I', 'I']],
    ['St.\u202FJohn\u3000- .', ['ST', 'JOHN']],
  ])('reads %s', (spelling, letters) => {
    expect(read(spelling).last).toEqual(letters);
  });

  it.each(['Jr', 'Jr.', 'sr', 'II', 'iii', 'IV', 'V'])('sets aside %s after a last name', (suffix) => {
    expect(read('Smith', suffix)).toEqual({ last: ['SMITH'], ignored: [suffix] });
    expect(read(`Smith ${suffix}`)).toEqual({ last: ['SMITH'], ignored: [suffix] });
  });

  it.each([
    ['Jr', ['JR']],
    ['V Smith', ['V', 'SMITH']],
    ['Smith J.R.', ['SMITH', 'JR']],
    ['Smith Ïï', ['SMITH', 'II']],
  ])('counts what is no suffix: %s', (name, last) => {
    expect(read(name)).toEqual({ last, ignored: [] });
  });
});

describe('the letter Y', () => {
  it.each([
    ['Yves', ['startBeforeConsonant']],
    ['Mary', ['end']],
    ['Lynn', ['betweenConsonants']],
    ['Bryan', ['onlyVowel']],
    ['Yann', ['startBeforeVowel']],
    ['Maya', ['afterVowel']],
    ['Tanya', ['laterVowel']],
    ['Roy-Yves', ['afterVowel', 'startBeforeConsonant']],
    ['Ann', []],
  ])('of %s has a reason, letter by letter', (source, reasons) => {
    expect(yReasonsOf(source).map(({ reason }) => reason)).toEqual(reasons);
  });

  it('is a vowel after any mark that joins two words', () => {
    for (const mark of "-.·'’ʼʻ´`‘‐‑‒–") expect(rolesOf(`O${mark}Yn`, /Y/)).toEqual(['vowel']);
  });

  it('is told with the part of a hyphenated word that decides', () => {
    expect(yReasonsOf('Tanya-Young').map(({ part }) => part)).toEqual(['TANYA', 'YOUNG']);
  });
});

it('the letter W is never a vowel', () => {
  expect(new Set(rolesOf('Gwlw', /./))).toEqual(new Set(['consonant']));
});
