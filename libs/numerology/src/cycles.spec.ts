import { describe, expect, it } from '@jest/globals';
import { requireDate } from './calendar.js';
import { foldToWords } from './words.js';
import { periodAges, personalMonth, personalYear, pinnacleAges, pinnacles, transitsAt } from './cycles.js';

describe('the thresholds of life', () => {
  it.each([
    [1, [27, 54], [35, 44, 53]],
    [2, [35, 62], [34, 43, 52]],
    [4, [33, 60], [32, 41, 50]],
    [9, [28, 55], [27, 36, 45]],
  ])(
    'with a Life Path of root %i are %j for periods and %j for pinnacles',
    (root, ofPeriods, ofPinnacles) => {
      expect(periodAges(root)).toEqual(ofPeriods);
      expect(pinnacleAges(root)).toEqual(ofPinnacles);
    },
  );

  it('count ages from birthday to birthday, excluding the end', () => {
    const at = (age: number) => pinnacles(requireDate('1990-06-15'), 4, age).map(({ current }) => current);
    expect(at(31)).toEqual([true, false, false, false]);
    expect(at(32)).toEqual([false, true, false, false]);
    expect(at(110)).toEqual([false, false, false, true]);
  });
});

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
