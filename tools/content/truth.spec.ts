import { bookFor, type Book } from '#publishing/content/book/book.js';
import type { Entry, Form } from '#publishing/content/book/shape.js';
import { composed, textOf } from '#publishing/document/testing/composed.js';
import { camille, newborn, resultOf } from '#publishing/document/testing/people.js';
import { randomPerson } from '#publishing/document/testing/random-people.js';
import { planTexts } from '#publishing/document/truth.js';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

const result = resultOf(camille, 'en-US');
const english = bookFor('en-US');

/** The book without claims, but for the entries given. */
const bookWith = (changed: Readonly<Record<string, readonly Partial<Form>[]>>): Book => ({
  has: english.has,
  entry: (key): Entry =>
    (changed[key] ?? english.entry(key).map(() => ({}))).map((change, at) => ({
      ...(english.entry(key)[at] as Form),
      traits: [],
      bridges: [],
      ...change,
    })),
});

const GIFT = 'expression/3 gift';
const COST = 'expression/3 cost';
const ACTIVE = `active ${result.numbers.active.value}`;

describe('The truth of a reading', () => {
  it('is a contradiction when two texts claim opposite poles', () => {
    const book = bookWith({ [COST]: [{ traits: ['order+'] }], [ACTIVE]: [{ traits: ['order-'] }] });
    expect(planTexts(book, result).contradictions).toEqual([
      { trait: 'order', plus: 'expression', minus: 'active' },
    ]);
  });

  it('leaves out forms that deny what their own page must claim', () => {
    const [drive, cost] = ['life-path/4 drive', 'life-path/4 cost'];
    const claim: Partial<Form> = { traits: ['order+'] };
    const book = bookWith({
      [drive]: english.entry(drive).map(() => claim),
      [cost]: [{ traits: ['order-'] }, {}, {}],
    });
    const readers = Array.from({ length: 60 }, (_, at) => ({
      ...result,
      subject: { ...result.subject, dateOfBirth: `reader ${at}` },
    }));
    expect(readers.flatMap((reader) => planTexts(book, reader).contradictions)).toEqual([]);
  });

  it('is none when a text bridges the trait', () => {
    const book = bookWith({
      [COST]: [{ traits: ['order+'] }],
      [ACTIVE]: [{ traits: ['order-'] }],
      'pairs-path/4 3': [{ bridges: ['order'] }],
    });
    expect(planTexts(book, result).contradictions).toEqual([]);
  });

  it('gives each form of an entry to as many readers, whatever it contradicts', () => {
    const cost = 'life-path/4 cost';
    const entry = english.entry(cost);
    const book = bookWith({
      [cost]: [{ traits: ['order-'] }, { traits: ['order+'] }, { traits: ['order+'] }],
      [COST]: [{ traits: ['order-'] }],
    });
    const born = Array.from({ length: 300 }, (_, at) => ({
      ...result,
      subject: { ...result.subject, dateOfBirth: `reader ${at}` },
    }));
    const given = born.map((reader) => planTexts(book, reader).forms.get(cost)?.text.neutral);
    for (const { text } of entry) {
      expect(given.filter((one) => one === text.neutral).length / born.length).toBeGreaterThan(0.25);
    }
  });

  it('leaves out an optional text that contradicts', () => {
    const tied = { ...result, grid: { ...result.grid, hiddenPassion: [1, 5] as const } };
    const clashing = bookWith({
      [COST]: [{ traits: ['order+'] }],
      'passion 5': [0, 1, 2].map(() => ({ traits: ['order-'] as const })),
    });
    expect(planTexts(clashing, tied).leftOut).toContain('passion 5');
    expect(planTexts(bookWith({}), tied).leftOut.size).toBe(0);
  });

  it('chooses forms by the group of the companion number', () => {
    expect(planTexts(english, result).forms.get(GIFT)?.when).toBe('2-4-8');
  });

  it('is told in the synthesis for each contradiction', () => {
    fc.assert(
      fc.property(fc.integer().map(randomPerson), (person) => {
        const own = resultOf(person, 'en-US');
        const { contradictions } = planTexts(english, own);
        if (contradictions.length === 0) return;
        const text = textOf(composed(person, 'en-US'), 'synthesis.bridges');
        expect(text.length).toBeGreaterThan(100 * contradictions.length);
      }),
      { numRuns: 20, seed: 11 },
    );
  });

  it('claims nothing of a child under seven', () => {
    expect(planTexts(english, resultOf(newborn)).forms.size).toBe(0);
  });
});
