import { DIGITS } from '#numerology/index.js';
import { bookFor } from '#publishing/content/book/book.js';
import { textOf } from '#publishing/document/testing/composed.js';
import { commonChild, commonPerson } from '#publishing/document/testing/random-people.js';
import { LOCALES, trialDocument, trialResult } from '#publishing/document/testing/trial.js';
import { PLANES, strongestPlanes } from '#publishing/document/figures.js';
import { describe, expect, it } from '@jest/globals';

/** Words by which one of four stands alone before the others: false where two planes have as many letters. */
const AHEAD_OF_ALL = {
  'fr-FR': /(?<!\p{L})(?:le plus (?:de|garni)|la plus grosse|plus de lettres|surtout|le mieux|passe devant|en tête|l’emporte|mène|a le dessus)(?!\p{L})/iu,
  'en-US': /\b(?:most of|more (?:\w+ )?letters|than any other|the majority|the largest|the biggest|the better part|fullest|outnumber|in the lead)\b/iu,
} as const; // prettier-ignore

/** The same of one value of the nine. */
const AHEAD_OF_VALUES = {
  'fr-FR': /(?<!\p{L})(?:domine|plus fort que les autres)(?!\p{L})/iu,
  'en-US': /\b(?:in the majority|than anything else)\b/iu,
} as const;

/** Nine piles, though most names leave a value out. */
const FILLS_ALL = { 'fr-FR': /neuf piles\./iu, 'en-US': /nine piles\./iu } as const;
const TWICE = {
  'fr-FR': /(?<!\p{L})(?:deux fois|seconde? fois)(?!\p{L})/iu,
  'en-US': /\b(?:twice|a second)\b/iu,
} as const;
const SMALLER = { 'fr-FR': /plus petit/iu, 'en-US': /\bsmaller\b/iu } as const;

const FORMS = 3;

describe.each(LOCALES)('What a reading says of its figures, in %s', (locale) => {
  const book = bookFor(locale);
  const textsAt = (keys: readonly string[]): string[] =>
    keys.flatMap((key) => book.entry(key).map(({ text }) => text.neutral));

  it('holds of a plane that shares the first place', () => {
    const keys = PLANES.flatMap((plane) => [`planes strongest.${plane}`, `under7/grid plane.${plane}`]);
    expect(textsAt(keys).length).toBeGreaterThanOrEqual(2 * PLANES.length * FORMS);
    expect(textsAt(keys).filter((text) => AHEAD_OF_ALL[locale].test(text))).toEqual([]);
  });

  it('is so in readings whose planes share it', () => {
    const people = [1, 2, 3, 4, 5, 6, 7, 8, 9].flatMap((seed) => [
      commonPerson(locale, seed),
      commonChild(locale, seed),
    ]);
    const tied = people.filter(
      (person) => strongestPlanes(trialResult({ person, locale, gender: 'neutral' }).planes).length > 1,
    );
    expect(tied.length).toBeGreaterThan(0);
    for (const person of tied) {
      const planes = textOf(trialDocument({ person, locale, gender: 'neutral' }), 'grid.planes');
      expect(planes).not.toMatch(AHEAD_OF_ALL[locale]);
    }
  });

  it('holds of a value that shares the first place', () => {
    const keys = DIGITS.flatMap((digit) => [`passion ${digit}`, `under7/grid passion.${digit}`]);
    expect(textsAt(keys).filter((text) => AHEAD_OF_VALUES[locale].test(text))).toEqual([]);
  });

  it('holds of nine cells of which some are empty', () => {
    const texts = textsAt(['frames/grid intro', 'frames/under7 grid.intro']);
    expect(texts.filter((text) => FILLS_ALL[locale].test(text))).toEqual([]);
  });

  it('holds of a pinnacle whose number comes three times', () => {
    const texts = textsAt(['frames/cycles sameAgain']);
    expect(texts.filter((text) => TWICE[locale].test(text))).toEqual([]);
  });

  it('holds of a minor challenge that is greater than the main one, which may be 0', () => {
    const texts = textsAt(['frames/cycles challengesIntro', 'frames/under7 cycles.challengesIntro']);
    expect(texts.filter((text) => SMALLER[locale].test(text))).toEqual([]);
  });
});
