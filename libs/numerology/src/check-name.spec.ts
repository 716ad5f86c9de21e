import { describe, expect, it } from '@jest/globals';
import { checkName, type NameProblem } from './check-name.js';
import type { StructuredName } from './words.js';

const check = (change: Partial<StructuredName>): NameProblem[] =>
  checkName({ firstNames: ['Ada'], middleNames: [], lastNames: ['Lovelace'], ...change });

const codes = (firstName: string): string[] => check({ firstNames: [firstName] }).map(({ code }) => code);

describe('checking a name', () => {
  it('reports every problem with its place', () => {
    const problems = check({ firstNames: ['Ada', 'R2D2', '@7'], middleNames: [''], lastNames: [] });
    expect(problems.map(({ pointer, code }) => [pointer, code])).toEqual([
      ['/firstNames/1', 'digit_in_name'],
      ['/firstNames/2', 'invalid_character'],
      ['/firstNames/2', 'digit_in_name'],
      ['/middleNames/0', 'empty'],
      ['/lastNames', 'too_few'],
    ]);
  });

  it('allows eight elements and no more', () => {
    expect(check({ middleNames: Array.from({ length: 8 }, () => 'Ann') })).toEqual([]);
    expect(check({ middleNames: Array.from({ length: 9 }, () => 'Ann') })).toMatchObject([
      { pointer: '/middleNames', code: 'too_many' },
    ]);
  });

  it('counts the code points of an element after composition', () => {
    expect(codes('e\u0301'.repeat(100))).toEqual([]);
    expect(codes('é'.repeat(101))).toEqual(['too_long']);
    // Three code points for each letter. A letter of four is Greek.
    expect(codes('ộ'.normalize('NFD').repeat(100))).toEqual([]);
  });

  it('does not compose what is far too long, which would take hours', () => {
    expect(codes(`a${'\u0315\u0316'.repeat(1_000_000)}`)).toEqual(['too_long']);
  });

  it('allows 300 letters in all, and counts a ligature as the letters it folds to', () => {
    const hundred = 'a'.repeat(100);
    expect(check({ firstNames: [hundred, hundred], lastNames: [hundred] })).toEqual([]);
    expect(check({ firstNames: [hundred, hundred], lastNames: [`${'a'.repeat(99)}œ`] })).toMatchObject([
      { pointer: '', code: 'too_long' },
    ]);
  });

  it.each([
    ['ªº', 'an ordinal sign'],
    ['𝐀nna', 'a mathematical letter'],
    ['Ⅷ', 'a Roman numeral sign'],
    ['Ann\u00ADa', 'a soft hyphen'],
    ['Ann\uFE0F', 'a variation selector'],
    ['\u0301Ann', 'a diacritic on nothing'],
    ['Ann\uD800', 'a lone surrogate'],
    ['ʔa', 'a Latin letter with no counterpart in A–Z'],
  ])('refuses %j: %s', (name) => {
    expect(codes(name)).toEqual(['invalid_character']);
  });

  it.each(['m̃a', 'Əli', 'N’Diaye', 'J.-P.', 'ʿAlī', 'Ɲaman'])('accepts %s', (name) => {
    expect(codes(name)).toEqual([]);
  });
});
