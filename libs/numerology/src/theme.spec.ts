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

  it('shows a suffix but does not count it', () => {
    const junior = theme('1990-06-15', '2026-09-29', 'Camille', 'Laurent Jr.');
    const plain = theme('1990-06-15', '2026-09-29', 'Camille', 'Laurent');
    expect(junior.subject.displayName).toBe('Camille Laurent Jr.');
    expect(junior.normalization.ignored).toEqual([
      { source: 'Jr.', letters: 'JR', group: 'last', reason: 'suffix' },
    ]);
    expect(junior.numbers).toEqual(plain.numbers);
  });

  it('throws on a name without letters, and on a day that does not exist', () => {
    expect(() => theme('1990-06-15', '2026-09-29', '-', '-')).toThrow(RangeError);
    expect(() => theme('1990-02-30', '2026-09-29')).toThrow(RangeError);
  });
});
