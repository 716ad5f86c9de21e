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
  withoutVowel,
} from '#publishing/document/testing/people.js';
import { randomPerson } from '#publishing/document/testing/random-people.js';
import { LOCALES, trialDocument, trialResult } from '#publishing/document/testing/trial.js';
import { describe, expect, it } from '@jest/globals';
import { proseOf, repeatedSentences } from './text.js';

const english = bookFor('en-US');
const only = (key: string): string => english.entry(key)[0]?.text.neutral ?? '';
const idsOf = (person: Person): string[] => nodesOf(composed(person)).map(({ id }) => id);
const older: Person = { ...camille, dateOfBirth: '1961-06-15' };
const driveOfConcord = english.entry('life-path/4 drive').find(({ when }) => when === '3-6-9');

it.each([
  ['the form for the group of the Expression, 3', camille, 'path', driveOfConcord?.text.neutral],
  ['a number that leads far', camille, 'synthesis', only('synthesis/dominant 3.strong.close')],
  ['a number that hardly leads', thirtyThree, 'synthesis', only('synthesis/dominant 6.quiet.close')],
  ['a Maturity to come, before 45', camille, 'name.maturity', only('maturity 7.before')],
  ['a Maturity that is there', older, 'name.maturity', '.after'],
  ['that letters of the essence are equal', indebted, 'year.essence', 'a second '],
  ['that a name without a vowel has no Soul Urge', withoutVowel, 'name.soul-urge', only('none soulUrge')],
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
