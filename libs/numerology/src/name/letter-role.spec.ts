import { describe, expect, it } from '@jest/globals';
import { foldToWords, yReasonsOf } from './words.js';

const rolesOfY = (firstName: string): string[] =>
  foldToWords({ firstNames: [firstName], middleNames: [], lastNames: [] })
    .words.flatMap((word) => word.spelling)
    .filter(({ letter }) => letter === 'Y')
    .map(({ role }) => role);

describe('the letter Y', () => {
  it.each(['Yves', 'Mary', 'Lynn', 'Cyril', 'Katelyn', 'Bryan', 'Wyatt', 'Y', 'Yy'])(
    'is a vowel in %s',
    (name) => {
      expect(new Set(rolesOfY(name))).toEqual(new Set(['vowel']));
    },
  );

  it.each(['Yann', 'Roy', 'Maya', 'Taylor', 'Jayne', 'Tanya', 'Guy', 'Nguyễn'])(
    'is a consonant in %s',
    (name) => {
      expect(rolesOfY(name)).toEqual(['consonant']);
    },
  );

  it('is judged inside its own segment', () => {
    expect(rolesOfY('Marie-Yvonne')).toEqual(['vowel']);
    expect(rolesOfY('Roy-Yates')).toEqual(['consonant', 'consonant']);
    for (const mark of "-.·'’ʼʻ´`‘‐‑‒–") expect(rolesOfY(`O${mark}Yn`)).toEqual(['vowel']);
  });
});

describe('the reason for a Y', () => {
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
  ])('of %s is told letter by letter', (source, reasons) => {
    expect(yReasonsOf(source).map(({ reason }) => reason)).toEqual(reasons);
  });

  it('comes with the part of a hyphenated word that decides', () => {
    expect(yReasonsOf('Tanya-Young').map(({ part }) => part)).toEqual(['TANYA', 'YOUNG']);
  });
});

describe('the letter W', () => {
  it('is never a vowel', () => {
    const [word] = foldToWords({ firstNames: ['Gwlw'], middleNames: [], lastNames: [] }).words;
    expect(word?.spelling.every(({ role }) => role === 'consonant')).toBe(true);
  });
});
