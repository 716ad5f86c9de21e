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
  it('has a Life Path 33 for 11 November 2009', () => {
    expect(theme('2009-11-11', '2026-09-29').numbers.lifePath).toEqual({
      value: 33,
      root: 6,
      master: true,
      karmicDebt: null,
      chain: [33],
      display: '33/6',
      parts: [
        { component: 'month', value: 11, from: 11 },
        { component: 'day', value: 11, from: 11 },
        { component: 'year', value: 11, from: 2009 },
      ],
    });
  });

  it('reduces by components, where other methods find another master', () => {
    expect(theme('1986-04-10', '2026-09-29').numbers.lifePath.value).toBe(11);
    expect(theme('1977-05-04', '2026-09-29').numbers.lifePath.value).toBe(6);
  });

  it('changes its current stage on 1 March for a leap-day birth', () => {
    // 29 February 2000: 2 + 11 + 2 = 15 → 6, so the second pinnacle begins at 30, in 2030.
    const current = (asOf: string) =>
      theme('2000-02-29', asOf).cycles.pinnacles.find((stage) => stage.current)?.index;
    expect(current('2030-02-28')).toBe(1);
    expect(current('2030-03-01')).toBe(2);
  });

  it('lists each debt with its position, including the day of birth', () => {
    expect(theme('1990-06-13', '2026-09-29').karmicDebts).toContainEqual({
      debt: 13,
      at: 'numbers.birthday',
    });
  });

  it('supports a name without a vowel', () => {
    const { numbers, bridges, letters, synthesis } = theme('1990-06-15', '2026-09-29', 'Ng', 'Ng');
    expect(numbers.soulUrge).toEqual({
      value: null,
      root: null,
      master: false,
      karmicDebt: null,
      chain: [],
      display: '–',
      parts: [],
    });
    expect(numbers.personality.value).toBe(numbers.expression.value);
    expect(bridges.soulUrgePersonality).toBeNull();
    expect(letters).toEqual({ cornerstone: 'N', capstone: 'G', firstVowel: null });
    expect(synthesis.threads).toContain('rare:five-lessons');
  });

  it('supports a name without a consonant', () => {
    const { numbers, bridges } = theme('1990-06-15', '2026-09-29', 'Éa', 'Io');
    expect(numbers.personality.value).toBeNull();
    expect(numbers.soulUrge.value).toBe(numbers.expression.value);
    expect(bridges.soulUrgePersonality).toBeNull();
  });

  it('uses the last names twice when there is no middle name', () => {
    const { transits } = theme('1990-06-15', '2026-09-29').now;
    expect(transits.mental).toBe(transits.spiritual);
  });

  it('reports the role of each Y', () => {
    expect(theme('1990-06-15', '2026-09-29', 'Yves', 'Maloney').normalization.yRoles).toEqual([
      { word: 'YVES', wordIndex: 0, letterIndex: 0, role: 'vowel' },
      { word: 'MALONEY', wordIndex: 1, letterIndex: 6, role: 'consonant' },
    ]);
  });

  it('shows a suffix but does not count it', () => {
    const junior = theme('1990-06-15', '2026-09-29', 'Camille', 'Laurent Jr.');
    const plain = theme('1990-06-15', '2026-09-29', 'Camille', 'Laurent');
    expect(junior.subject.displayName).toBe('Camille Laurent Jr.');
    expect(junior.normalization.ignored).toEqual([
      { source: 'Jr.', letters: 'JR', group: 'last', reason: 'suffix' },
    ]);
    expect(junior.numbers).toEqual(plain.numbers);
  });

  it('supports a person born today, at age 0', () => {
    expect(theme('2026-09-30', '2026-09-29')).toMatchObject({
      age: 0,
      cycles: { periods: [{ current: true }, {}, {}] },
    });
  });

  it('throws on a name without letters, and on a day that does not exist', () => {
    expect(() => theme('1990-06-15', '2026-09-29', '-', '-')).toThrow(RangeError);
    expect(() => theme('1990-02-30', '2026-09-29')).toThrow(RangeError);
  });
});
