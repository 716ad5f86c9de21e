import { describe, expect, it } from '@jest/globals';
import type { Figure, FigureKind } from './document.js';
import { camille, child, indebted, type Person } from './testing/people.js';
import { composed, figuresOf } from './testing/composed.js';

describe('Figures', () => {
  const document = composed(camille, 'fr-FR', 'feminine');
  const figure = <Kind extends FigureKind>(kind: Kind) =>
    figuresOf(document).find((node): node is Extract<Figure, { kind: Kind }> => node.kind === kind);

  it('weight each number by its positions', () => {
    expect(figure('numberWheel')?.data).toEqual({
      weights: { 1: 0, 2: 0, 3: 6.5, 4: 4, 5: 0, 6: 1.5, 7: 1, 8: 0, 9: 1.5 },
      dominant: [3],
    });
    expect(figure('numberWheel')?.alt).toContain('Nombre le plus présent\u00A0: 3.');
  });

  it('count the letters of the name', () => {
    expect(figure('inclusionGrid')?.data).toMatchObject({ lessons: [6, 7, 8], passion: [3] });
    expect(figure('inclusionGrid')?.alt).toContain('Cases vides\u00A0: 6, 7 et 8.');
  });

  it('lay three periods and four pinnacles end to end', () => {
    const rows = figure('lifeTimeline')?.data.rows ?? [];
    expect(rows.map(({ spans }) => spans.length)).toEqual([3, 4]);
    for (const { spans } of rows) {
      spans.slice(1).forEach((span, index) => expect(span.from).toBe(spans[index]?.to));
      expect(spans.at(-1)?.to).toBeNull();
    }
  });

  it('show nine years around the year of the reading', () => {
    const years = figure('nineYearCycle')?.data.years ?? [];
    expect(years.map(({ year }) => year)).toEqual([2021, 2022, 2023, 2024, 2025, 2026, 2027, 2028, 2029]);
    expect(years.filter(({ current }) => current)).toEqual([{ year: 2026, value: 4, current: true }]);
  });

  it('say which letters are vowels', () => {
    expect(figure('letterStrip')?.caption).toContain('Les lettres pleines sont des voyelles');
    const english = figuresOf(composed(camille, 'en-US', 'feminine')).find(
      ({ kind }) => kind === 'letterStrip',
    );
    expect(english?.caption).toContain('Filled letters are vowels');
  });

  it('measure the four planes by their letters', () => {
    expect(figure('planeBars')?.data.bars.map(({ plane, count }) => [plane, count])).toEqual([
      ['physical', 5],
      ['mental', 7],
      ['emotional', 5],
      ['intuitive', 2],
    ]);
    expect(figure('planeBars')?.alt).toContain('Plan mental\u00A0: 7.');
  });

  it('lay out every letter with its value and its role', () => {
    const words = figure('letterStrip')?.data.words ?? [];
    expect(words.map((word) => word.map(({ letter }) => letter).join(''))).toEqual([
      'CAMILLE',
      'MARIE',
      'LAURENT',
    ]);
    expect(words[0]?.slice(0, 2)).toEqual([
      { letter: 'C', value: 3, vowel: false },
      { letter: 'A', value: 1, vowel: true },
    ]);
  });

  it('distinguish a vowel Y from a consonant Y', () => {
    const ys = (person: Person) =>
      figuresOf(composed(person)).flatMap((node) =>
        node.kind === 'letterStrip' ? node.data.words.flat().filter(({ letter }) => letter === 'Y') : [],
      );
    expect(ys(indebted).map(({ vowel }) => vowel)).toEqual([true]);
    expect(ys(child).map(({ vowel }) => vowel)).toEqual([false]);
  });

  it('each contain their amounts as text, for readers who cannot see the drawing', () => {
    for (const { fallback } of figuresOf(document)) {
      expect(fallback[0]?.type).toBe('table');
      const [table] = fallback;
      if (table?.type === 'table') expect(table.rows.length).toBeGreaterThanOrEqual(3);
    }
  });
});
