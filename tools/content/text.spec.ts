import { composeDocument } from '#publishing/document/compose.js';
import type { Locale } from '#publishing/document/document.js';
import { type Person, resultOf } from '#publishing/document/testing/people.js';
import { randomPerson } from '#publishing/document/testing/random-people.js';
import { describe, expect, it } from '@jest/globals';
import { brokenRules } from './lint.js';
import { proseOf, repeatedSentences, repeatedSequences } from './text.js';
import fc from 'fast-check';

/** Any person that the service accepts. */
const anyone = fc.integer().map(randomPerson);

const proseFor = (person: Person, locale: Locale) =>
  composeDocument(resultOf(person, locale), { publishedAt: '2026-09-29T08:00:00.000Z' });

/** Replaces the person's name, since the typography rules do not apply to the caller's spelling. */
const ownWords = (text: string, name: string) => text.replaceAll(name, 'Ada');

describe.each(['fr-FR', 'en-US'] as const)('The prose of a reading in %s', (locale) => {
  it('repeats no sentence and overuses no phrase, for any person', () => {
    fc.assert(
      fc.property(anyone, (person) => {
        const prose = proseOf(proseFor(person, locale));
        expect(repeatedSentences(prose)).toEqual([]);
        expect(repeatedSequences(prose)).toEqual([]);
      }),
      { numRuns: 30, seed: 3 },
    );
  });

  it('passes the prose lint when composed', () => {
    fc.assert(
      fc.property(anyone, (person) => {
        const document = proseFor(person, locale);
        for (const text of proseOf(document)) {
          expect(brokenRules(locale, ownWords(text, document.subtitle))).toEqual([]);
        }
      }),
      { numRuns: 25, seed: 4 },
    );
  });

  it('has sentences that can be read in one breath', () => {
    fc.assert(
      fc.property(anyone, (person) => {
        const prose = proseOf(proseFor(person, locale)).join(' ');
        const words = prose.match(/[\p{L}\p{N}’-]+/gu)?.length ?? 0;
        const sentences = prose.match(/[.?…](?=\s|$|”)/gu)?.length ?? 1;
        expect(words / sentences).toBeGreaterThan(11);
        expect(words / sentences).toBeLessThan(24);
      }),
      { numRuns: 15, seed: 5 },
    );
  });
});

describe('Repetition', () => {
  it('is a sentence that occurs again', () => {
    expect(repeatedSentences(['One two three four. A b c.', 'One two three four.'])).toEqual([
      'One two three four.',
    ]);
  });

  it('is a sequence of six words that occurs three times', () => {
    const text = 'it was the best of times';
    expect(repeatedSequences([text, `${text} indeed`])).toEqual([]);
    expect(repeatedSequences([text, text, `so ${text}`])).toEqual([text]);
  });
});
