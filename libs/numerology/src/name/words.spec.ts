import { describe, expect, it } from '@jest/globals';
import { foldToWords } from './words.js';

const read = (...lastNames: string[]) => {
  const { words, ignored } = foldToWords({ firstNames: ['John'], middleNames: [], lastNames });
  return { last: words.slice(1).map(({ letters }) => letters), ignored: ignored.map(({ source }) => source) };
};

describe('folding a name', () => {
  it.each([
    ['ﬁ ĳ Ａ', ['FI', 'IJ', 'A']],
    ['Gabriel·la Gabrieŀla', ['GABRIELLA', 'GABRIELLA']],
    ["O'Neil O’Neil OʼNeil OʻNeil O´Neil O`Neil O‘Neil", Array.from({ length: 7 }, () => 'ONEIL')],
    ['Jean‐Luc Jean–Luc', ['JEANLUC', 'JEANLUC']],
    ['Æbelø ẞ Ŋ Ħ Ŧ', ['AEBELO', 'SS', 'NG', 'H', 'T']],
    ['Əliyev Ɗan', ['ELIYEV', 'DAN']],
    ['Ɲaman Ʒǯ', ['NAMAN', 'ZZ']],
    ['ʿAlī Qurʾān Olʹga Obʺezd', ['ALI', 'QURAN', 'OLGA', 'OBEZD']],
    ['İ I i ı', ['I', 'I', 'I', 'I']],
    ['St.\u202FJohn\u3000- .', ['ST', 'JOHN']],
  ])('reads %s', (spelling, letters) => {
    expect(read(spelling).last).toEqual(letters);
  });

  it('gives every letter its value and role, for the letter strip', () => {
    const [word] = foldToWords({ firstNames: ['Zoé'], middleNames: [], lastNames: [] }).words;
    expect(word).toEqual({
      source: 'Zoé',
      letters: 'ZOE',
      group: 'first',
      spelling: [
        { letter: 'Z', value: 8, role: 'consonant' },
        { letter: 'O', value: 6, role: 'vowel' },
        { letter: 'E', value: 5, role: 'vowel' },
      ],
    });
  });
});

describe('a generational suffix', () => {
  it.each(['Jr', 'Jr.', 'sr', 'II', 'iii', 'IV', 'V'])('%s after a last name is set aside', (suffix) => {
    expect(read('Smith', suffix)).toEqual({ last: ['SMITH'], ignored: [suffix] });
    expect(read(`Smith ${suffix}`)).toEqual({ last: ['SMITH'], ignored: [suffix] });
  });

  it('is a name when it stands alone, before another word, or as initials', () => {
    expect(read('Jr')).toEqual({ last: ['JR'], ignored: [] });
    expect(read('V Smith')).toEqual({ last: ['V', 'SMITH'], ignored: [] });
    expect(read('Smith J.R.')).toEqual({ last: ['SMITH', 'JR'], ignored: [] });
    expect(read('Smith Ïï')).toEqual({ last: ['SMITH', 'II'], ignored: [] });
  });
});
