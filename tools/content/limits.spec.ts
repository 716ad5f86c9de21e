import { commonChild, commonPerson } from '#publishing/document/testing/random-people.js';
import { LOCALES, type Trial, trialDocument, trialResult } from '#publishing/document/testing/trial.js';
import { describe, expect, it } from '@jest/globals';
import { choiceFaults, lengthFaults, likenessFaults, sentenceFaults, wordsOf } from './limits.js';

const trials = (count: number, personOf: (seed: number) => Trial['person']): Trial[] =>
  Array.from({ length: count }, (_, seed) => ({
    person: personOf(seed),
    locale: 'en-US',
    gender: 'neutral',
  }));
const one = trials(1, () => commonPerson('en-US', 1));
const twice = [...one, ...one];

describe('What readings share', () => {
  it.each(LOCALES)('is within the limits, for adults and children with common names: %s', (locale) => {
    const adults = trials(60, (seed) => commonPerson(locale, seed)).map((trial) => ({ ...trial, locale }));
    const documents = adults.map(trialDocument);
    expect(sentenceFaults(documents)).toEqual([]);
    const children = trials(8, (seed) => commonChild(locale, seed)).map((trial) => ({ ...trial, locale }));
    expect(
      lengthFaults(
        'children',
        children.map((child) => wordsOf(trialDocument(child))),
      ),
    ).toEqual([]);
    expect(likenessFaults('adults', adults.slice(0, 20), documents.slice(0, 20))).toEqual([]);
    const results = trials(400, (seed) => commonPerson(locale, seed)).map((each) =>
      trialResult({ ...each, locale }),
    );
    expect(choiceFaults(locale, results)).toEqual([]);
  });

  it.each(LOCALES)('is within the limits, for parents of newborns at the end of the year: %s', (locale) => {
    const words = Array.from({ length: 6 }, (_, seed) => {
      const person = { ...commonChild(locale, seed), dateOfBirth: `2026-12-${seed + 21}` };
      return wordsOf(trialDocument({ person, locale, gender: 'neutral', asOf: '2026-12-31' }));
    });
    expect(lengthFaults('children', words)).toEqual([]);
  });

  it('exceeds them where many hold one sentence, or one form goes to all', () => {
    const same = Array.from({ length: 20 }, () => one[0]!);
    expect(sentenceFaults(same.map(trialDocument)).join()).toContain('in 100 % of the readings: ');
    const faults = choiceFaults(
      'en-US',
      Array.from({ length: 60 }, () => trialResult(one[0]!)),
    );
    expect(faults.join()).toMatch(/life-path\/\d+ cost: form \d goes to 100 % of its readers/);
  });

  it('exceeds them where two are one, at each likeness of their people', () => {
    expect(likenessFaults('adults', twice, twice.map(trialDocument))).toEqual([
      'adults, any two: 100 % alike in the median, 100 % at 95 %',
      'adults, one Life Path: 100 % alike in the median, 100 % at 95 %',
      'adults, one Life Path and Expression: 100 % alike in the median, 100 % at 95 %',
    ]);
  });

  it.each([
    ['adults', 4_599, 2],
    ['adults', 4_999, 1],
    ['adults', 5_500, 0],
    ['adults', 6_501, 1],
    ['children', 4_599, 1],
    ['children', 4_600, 0],
    ['children', 6_501, 1],
  ] as const)('exceeds them where readings of %s have %i words: %i faults', (who, words, faults) => {
    expect(
      lengthFaults(
        who,
        Array.from({ length: 100 }, () => words),
      ),
    ).toHaveLength(faults);
    expect(lengthFaults('children', [...Array<number>(100).fill(5_000), 4_599])).toHaveLength(1);
  });
});
