import { commonChild, commonPerson } from '#publishing/document/testing/random-people.js';
import { LOCALES, trialDocument, trialResult } from '#publishing/document/testing/trial.js';
import { describe, expect, it } from '@jest/globals';
import { choicesOf, isLopsided } from './choices.js';
import { childLengthFaults, lengthLimitFaults, limitFaults, sentenceLimit } from './limits.js';
import { measureReadings, type ReadingStats } from './reading-stats.js';
import { proseOf, wordsIn } from './text.js';

const stats = (change: Partial<ReadingStats>): ReadingStats => ({
  locale: 'en-US',
  people: 1_000,
  words: [],
  forecast: [],
  childWords: [],
  sentences: [],
  choices: [],
  likeness: [],
  childLikeness: [],
  ...change,
});
const choice = { key: 'passion 5', forms: 3, favorite: 2, readers: 400 };
const pairs = { stratum: 'any two', pairs: 9, most: { median: 0.2, p95: 0.35 } };

describe('The limits of what readings share', () => {
  it.each(LOCALES)('hold for adults and children with common names: %s', (locale) => {
    const measured = measureReadings(locale, 120, 1, { likeness: false });
    expect(limitFaults(measured)).toEqual([]);
    expect(measured.childWords).toHaveLength(30);
    expect(childLengthFaults(measured)).toEqual([]);
  });

  it.each(LOCALES)('hold for the parents of a newborn at the end of the year: %s', (locale) => {
    const newborns = Array.from({ length: 10 }, (_, seed) => ({
      ...commonChild(locale, seed),
      dateOfBirth: `2026-12-${seed + 21}`,
    }));
    const childWords = newborns.map((person) =>
      proseOf(trialDocument({ person, locale, gender: 'neutral', asOf: '2026-12-31' })).reduce(
        (sum, text) => sum + wordsIn(text),
        0,
      ),
    );
    expect(childLengthFaults({ childWords })).toEqual([]);
  });

  it.each(LOCALES)('hold for the forms of each entry: %s', (locale) => {
    const results = Array.from({ length: 600 }, (_, seed) =>
      trialResult({ person: commonPerson(locale, seed), locale, gender: 'neutral' }),
    );
    expect(choicesOf(locale, results).filter(isLopsided)).toEqual([]);
  });

  it('are exceeded by a sentence in more than a quarter of the readings', () => {
    const sentence = (share: number) => ({ sentences: [{ sentence: 'You sing.', share }] });
    expect(limitFaults(stats(sentence(0.251)))).toEqual(['in 25.1 % of the readings: You sing.']);
    expect(limitFaults(stats(sentence(0.25)))).toEqual([]);
    expect(limitFaults(stats({ ...sentence(0.3), people: 120 }))).toEqual([]);
    expect(sentenceLimit(120)).toBeLessThan(0.34);
  });

  it('are exceeded by a form that too many readers of its entry get', () => {
    expect(limitFaults(stats({ choices: [{ ...choice, share: 0.5 }] }))).toEqual([
      'passion 5: form 2 of 3 goes to 50 % of its readers',
    ]);
    expect(limitFaults(stats({ choices: [{ ...choice, share: 0.42 }] }))).toEqual([]);
    expect(limitFaults(stats({ choices: [{ ...choice, share: 0.6, readers: 10 }] }))).toEqual([]);
  });

  it('are exceeded by readings too short or too long, and by a short forecast', () => {
    const many = (words: number) => Array.from({ length: 100 }, () => words);
    const faults = (words: number, forecast = 2_000) =>
      lengthLimitFaults({ words: many(words), forecast: [2_000, forecast] });
    expect(faults(5_500)).toEqual([]);
    expect(faults(4_599)).toEqual([
      '4599 words of prose at 5 %, at least 4600',
      '4599 words of prose in the median, at least 5000',
    ]);
    expect(faults(6_501)).toEqual(['6501 words of prose at 95 %, at most 6500']);
    expect(faults(5_500, 1_499)).toEqual(['a forecast of 1499 words, at least 1500']);
  });

  it('are exceeded by one short reading for parents, and by long ones', () => {
    const many = (words: number) => Array.from({ length: 100 }, () => words);
    expect(childLengthFaults({ childWords: many(4_600) })).toEqual([]);
    expect(childLengthFaults({ childWords: [...many(5_000), 4_599] })).toEqual([
      'a reading for parents of 4599 words, at least 4600',
    ]);
    expect(childLengthFaults({ childWords: many(6_501) })).toEqual([
      '6501 words of prose for parents at 95 %, at most 6500',
    ]);
  });

  it('are exceeded by readings too much alike', () => {
    expect(limitFaults(stats({ likeness: [{ ...pairs, median: 0.1, p95: 0.35 }] }))).toHaveLength(1);
    expect(limitFaults(stats({ likeness: [{ ...pairs, median: 0.2, p95: 0.3 }] }))).toHaveLength(1);
    expect(limitFaults(stats({ likeness: [{ ...pairs, median: 0.19, p95: 0.34 }] }))).toEqual([]);
    expect(limitFaults(stats({ childLikeness: [{ ...pairs, median: 0.25, p95: 0.3 }] }))).toEqual([
      'readings of children, any two: 25 % alike in the median, 30 % at 95 %',
    ]);
  });
});
