import { describe, expect, it } from '@jest/globals';
import { calculateTheme, type Theme } from './theme.js';

const theme = (dateOfBirth: string, asOf: string, first = 'Camille', last = 'Laurent'): Theme =>
  calculateTheme(
    {
      name: { firstNames: [first], middleNames: [], lastNames: [last] },
      dateOfBirth,
      subjectGender: 'neutral',
    },
    asOf,
  );

describe('a theme', () => {
  it('changes its current stage on 1 March for a leap-day birth', () => {
    // 29 February 2000: 2 + 11 + 2 = 15 → 6, so the second pinnacle begins at 30, in 2030.
    const current = (asOf: string) =>
      theme('2000-02-29', asOf).cycles.pinnacles.find((stage) => stage.current)?.index;
    expect(current('2030-02-28')).toBe(1);
    expect(current('2030-03-01')).toBe(2);
  });

  it('throws on a name without letters, and on a day that does not exist', () => {
    expect(() => theme('1990-06-15', '2026-09-29', '-', '-')).toThrow(RangeError);
    expect(() => theme('1990-02-30', '2026-09-29')).toThrow(RangeError);
  });
});
