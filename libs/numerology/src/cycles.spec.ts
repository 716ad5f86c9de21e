import { describe, expect, it } from '@jest/globals';
import { requireDate } from './calendar.js';
import { foldToWords } from './words.js';
import { personalMonth, personalYear, transitsAt } from './cycles.js';

describe('the personal year and month', () => {
  it('never keep a master', () => {
    const birth = requireDate('1990-11-29');
    expect(personalYear(birth, 2005)).toBe(2);
    expect(personalMonth(birth, 2005, 9)).toBe(2);
  });
});

describe('the transits', () => {
  const { words } = foldToWords({ firstNames: ['Ab'], middleNames: ['Ca'], lastNames: ['De', 'F'] });
  const letters = (age: number) => Object.values(transitsAt(words, age).transits).join('');

  it('keep each letter for its value in years, and repeat', () => {
    // AB lasts 1 + 2 years, CA 3 + 1, DE F 4 + 5 + 6.
    expect([0, 1, 2, 3, 4, 9, 14, 15].map(letters)).toEqual([
      'ACD',
      'BCD',
      'BCD',
      'AAD',
      'BCE',
      'ACF',
      'BCF',
      'AAD',
    ]);
  });

  it('keep a master in the essence', () => {
    const master = foldToWords({ firstNames: ['E'], middleNames: ['D'], lastNames: ['B'] }).words;
    expect(transitsAt(master, 0).essence).toEqual({ value: 11, chain: [11] });
  });
});
