import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { bookFor } from '../content/book/book.js';
import type { Book } from '../content/book/book.js';
import type { Entry, Form } from '../content/book/shape.js';
import { camille, newborn, resultOf } from './testing/people.js';
import { randomPerson } from './testing/random-person.js';
import { composed, textOf } from './testing/composed.js';
import { planTexts } from './truth.js';

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

  it('is none when a text bridges the trait', () => {
    const book = bookWith({
      [COST]: [{ traits: ['order+'] }],
      [ACTIVE]: [{ traits: ['order-'] }],
      'pairs-path/4 3': [{ bridges: ['order'] }],
    });
    expect(planTexts(book, result).contradictions).toEqual([]);
  });

  it('takes another form of an entry rather than contradict', () => {
    const cost = 'life-path/4 cost';
    const poles = (index: number): Partial<Form>[] =>
      [0, 1, 2].map((at) => ({ traits: [at === index ? 'order-' : 'order+'] }));
    for (const index of [0, 1, 2]) {
      const book = bookWith({ [cost]: poles(index), [COST]: [{ traits: ['order-'] }] });
      const plan = planTexts(book, result);
      expect(plan.forms.get(cost)?.traits).toEqual(['order-']);
      expect(plan.contradictions).toEqual([]);
    }
  });

  it('chooses forms by the group of the companion number', () => {
    expect(planTexts(english, result).forms.get(GIFT)?.when).toBe('2-4-8');
  });

  it('is told in the synthesis for each contradiction', () => {
    fc.assert(
      fc.property(randomPerson, (person) => {
        const own = resultOf(person, 'en-US');
        const { contradictions } = planTexts(english, own);
        if (contradictions.length === 0) return;
        const text = textOf(composed(person, 'en-US'), 'synthesis.bridges');
        expect(text.length).toBeGreaterThan(100 * contradictions.length);
      }),
      { numRuns: 40, seed: 11 },
    );
  });

  it('claims nothing of a child under seven', () => {
    expect(planTexts(english, resultOf(newborn)).forms.size).toBe(0);
  });
});
