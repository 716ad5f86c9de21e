import { bookFor } from '#publishing/content/book/book.js';
import { composed, figuresOf, nodesOf, sectionOf, textOf } from '#publishing/document/testing/composed.js';
import {
  ancestor,
  camille,
  child,
  emma,
  indebted,
  minh,
  newborn,
  type Person,
  resultOf,
  thirtyThree,
  withoutConsonant,
  withoutVowel,
} from '#publishing/document/testing/people.js';
import { randomPerson } from '#publishing/document/testing/random-people.js';
import { LOCALES, trialDocument, trialResult } from '#publishing/document/testing/trial.js';
import { describe, expect, it } from '@jest/globals';
import { loadBook } from './book-texts.js';
import { proseOf, repeatedSentences } from './text.js';

const english = bookFor('en-US');
const only = (key: string): string => english.entry(key)[0]?.text.neutral ?? '';
const idsOf = (person: Person): string[] => nodesOf(composed(person)).map(({ id }) => id);
const older: Person = { ...camille, dateOfBirth: '1961-06-15' };
const driveOfConcord = english.entry('life-path/4 drive').find(({ when }) => when === '3-6-9');

it.each([
  ['the color of the Life Path and Expression', camille, 'path', only('life-path-colour/4 3')],
  ['the total that the Life Path comes from', camille, 'path', only('compounds 13')],
  ['the form for the group of the Expression, 3', camille, 'path', driveOfConcord?.text.neutral],
  ['one label of a number wherever it is named', camille, 'overview', only('labels 4.lifePath.theme')],
  ['a number that leads far', camille, 'synthesis', only('synthesis/dominant 3.strong.close')],
  ['a number that leads', indebted, 'synthesis', only('synthesis/dominant 4.clear.close')],
  ['a number that hardly leads', thirtyThree, 'synthesis', only('synthesis/dominant 6.quiet.close')],
  ['a Maturity to come, before 45', camille, 'name.maturity', only('maturity 7.before')],
  ['a Maturity that is there', older, 'name.maturity', '.after'],
  ['that letters of the essence are equal', indebted, 'year.essence', 'a second '],
  ['that a name without a vowel has no Soul Urge', withoutVowel, 'name.soul-urge', only('none soulUrge')],
  [
    'that one without a consonant has no Personality',
    withoutConsonant,
    'name.personality',
    only('none personality'),
  ],
  ['the planes of a tie', indebted, 'grid.planes', 'mental and intuitive'],
  ['a single further value in a paragraph', emma, 'grid.lessons', only('synthesis/absent 7.line')],
  ['that past 110 a reading has no year', ancestor, 'opening', 'year is left out'],
  ['a reader who is still growing', child, 'opening', 'still growing'],
] as const)('A reading tells %s', (_, person, section, text) => {
  const { value } = resultOf(person).numbers.maturity;
  const told = text === '.after' ? only(`maturity ${value}.after`) : text;
  expect(textOf(composed(person), section)).toContain(told);
});

it('What a reading does not tell', () => {
  expect(textOf(composed(camille), 'opening')).not.toContain('still growing');
  expect(textOf(composed(minh), 'year.essence')).not.toContain('a second ');
  expect(figuresOf(composed(ancestor)).map(({ kind }) => kind)).not.toContain('nineYearCycle');
  expect(idsOf(indebted).filter((id) => id.includes('.debt.'))).toEqual([
    'path.debt.text',
    'name.expression.debt.here',
    'name.personality.debt.here',
  ]);
  expect(idsOf(indebted).filter((id) => /^grid\.lessons\.\d$/.test(id))).toHaveLength(1);
  // An absence is told once.
  expect(resultOf(withoutVowel).planes.physical.count).toBe(0);
  expect(idsOf(withoutVowel)).not.toContain('grid.planes.absent');
});

it.each(LOCALES)('A child has scenes of school, friends and home instead of work: %s', (locale) => {
  const [work] = bookFor(locale).entry('year/3 work');
  const told = textOf(composed(child, locale), 'year');
  expect(told).toContain(work?.ages['7-15']?.neutral);
  expect(told).not.toContain(work?.text.neutral);
});

describe('A child under seven', () => {
  it.each([
    ['2026-02-01', true],
    ['2026-01-31', false],
    ['2025-12-31', false],
  ])('born on %s has a text about its short first year: %s', (dateOfBirth, has) => {
    const ids = idsOf({ ...newborn, dateOfBirth });
    expect(ids.includes('year.arrival')).toBe(has);
  });

  it('has another text for each month, and no year before its birth', () => {
    const months = sectionOf(composed(newborn), 'year.months').children;
    expect(months.filter(({ id }) => /\d$/.test(id))).toHaveLength(12);
    expect(repeatedSentences(proseOf(composed(newborn)))).toEqual([]);
    const strip = figuresOf(composed(newborn)).find(({ kind }) => kind === 'nineYearCycle');
    expect(JSON.stringify(strip?.data)).toContain('"year":2026,');
    expect(JSON.stringify(strip)).not.toContain('2025');
  });

  it('reads of a number of a far period that stays that it stays', () => {
    const name = { firstNames: ['Idriss'], middleNames: ['Karim'], lastNames: ['Belkacem'] };
    const document = composed({ name, dateOfBirth: '2024-03-17' }, 'en-US', 'masculine');
    const told = JSON.stringify(nodesOf(document).find(({ id }) => id === 'cycles.later.period-3'));
    const stays = english.entry('frames/under7 cycles.samePeriod').map(({ text }) => text.neutral);
    expect(stays.some((sentence) => told.includes(sentence))).toBe(true);
  });
});

it('The pinnacles ahead do not explain again the number of the current one, and say once that one comes again', () => {
  const ahead = textOf(composed(emma), 'cycles.ahead');
  expect(ahead).not.toContain(only('pinnacles/ahead 7'));
  expect(ahead).toContain(only('pinnacles/ahead 9'));
  const trial = {
    person: randomPerson(974),
    locale: 'en-US',
    gender: 'neutral',
    asOf: '2026-11-29',
  } as const;
  expect(new Set(trialResult(trial).cycles.pinnacles.map(({ value }) => value)).size).toBe(2);
  expect(repeatedSentences(proseOf(trialDocument(trial)))).toEqual([]);
});

/** What a text says of figures must hold of each reader's. */
const DENIED = [
  {
    what: 'that a plane shares the first place',
    keys: /^(?:planes strongest|under7\/grid plane)\./,
    'fr-FR': /(?<!\p{L})(?:le plus (?:de|garni)|la plus grosse|plus de lettres|surtout|le mieux|passe devant|en tête|l’emporte|mène|a le dessus)(?!\p{L})/iu,
    'en-US': /\b(?:most of|more (?:\w+ )?letters|than any other|the majority|the largest|the biggest|the better part|fullest|outnumber|in the lead)\b/iu,
  },
  {
    what: 'that a value shares the first place',
    keys: /^(?:passion \d|under7\/grid passion)/,
    'fr-FR': /(?<!\p{L})(?:domine|plus fort que les autres)(?!\p{L})/iu,
    'en-US': /\b(?:in the majority|than anything else)\b/iu,
  },
  {
    what: 'that some of the nine cells are empty',
    keys: /^frames\/(?:grid intro|under7 grid\.intro)$/,
    'fr-FR': /neuf piles\./iu,
    'en-US': /nine piles\./iu,
  },
  {
    what: 'that a pinnacle’s number comes three times',
    keys: /^frames\/cycles sameAgain$/,
    'fr-FR': /(?<!\p{L})(?:deux fois|seconde? fois)(?!\p{L})/iu,
    'en-US': /\b(?:twice|a second)\b/iu,
  },
  {
    what: 'that a minor challenge is above the main one',
    keys: /^frames\/(?:cycles |under7 cycles\.)challengesIntro$/,
    'fr-FR': /plus petit/iu,
    'en-US': /\bsmaller\b/iu,
  },
  {
    what: 'that cycles or Balance have a value that letters lack',
    keys: /^lessons \d\.plain$/,
    'fr-FR': /(?<!\p{L})nulle part(?!\p{L})/iu,
    'en-US': /\b(?:chart|nowhere|anywhere)\b/u,
  },
] as const; // prettier-ignore

describe.each(LOCALES)('No text in %s denies', (locale) => {
  const entries = loadBook(locale).flatMap((file) => file.entries);
  it.each(DENIED)('$what', ({ keys, [locale]: denies }) => {
    const told = entries.filter(({ file, path }) => keys.test(`${file} ${path}`));
    const texts = told.flatMap(({ entry }) => entry.map(({ text }) => text.neutral));
    expect(texts.length).toBeGreaterThan(0);
    expect(texts.filter((text) => denies.test(text))).toEqual([]);
  });
});
