import type { Person } from '#publishing/document/testing/random-people.js';
import { LOCALES } from '#publishing/document/testing/trial.js';
import { createTypesetter } from '#publishing/pdf/typesetter.js';
import { describe, expect, it } from '@jest/globals';
import { checkPages, pageFaultsOf } from './check-pages.js';

const typesetter = createTypesetter();

const named = (lastName: string, dateOfBirth: string, ...firstNames: string[]): Person => ({
  name: { firstNames, middleNames: [], lastNames: [lastName] },
  dateOfBirth,
});

/** People whose names or ages are hard to lay out. */
const HARD_TO_LAY_OUT: readonly Person[] = [
  named('de La Tour', '1982-04-13', 'Jean-Baptiste', 'Marie'),
  named('Smith Jr.', '1956-08-22', 'Robert', 'Lee'),
  named("O'Neil", '2018-05-04', 'Anne-Sophie'),
  named('Llanfairpwllgwyngyllgogerych', '1936-11-11', 'Abcdefghijklmnopqrstuvwxyza'),
  named('Wolfeschlegelsteinhausenbergerdorffwelchevoralternwaren', '1921-09-19', 'Li'),
  named('Martin', '2026-07-03', 'Léa'),
  named('ANDRIAMAHAROMANANA', '1990-06-15', 'Ana'),
  named('W'.repeat(100), '1990-06-15', 'Li'),
  named('T̈heodor', '1990-06-15', 'Ọlọ́runfẹ́mi'),
];

describe('The booklets of people who are hard to lay out', () => {
  const cases = HARD_TO_LAY_OUT.flatMap((person) =>
    LOCALES.map((locale) => [person.name.lastNames.join(' '), locale, person] as const),
  );
  it.each(cases)('%s, %s', (_, locale, person) => {
    expect(pageFaultsOf(typesetter, { person, locale, gender: 'neutral' })).toEqual([]);
  });
});

describe('The longest words and names stay in their places', () => {
  const longest = [
    { firstNames: ['I'.repeat(100)], middleNames: ['M'.repeat(99)], lastNames: ['Nkwuruhbam'.repeat(10)] },
    {
      firstNames: Array<string>(8).fill('WILHELMINA MONTGOMERY WORTHINGTON'),
      middleNames: [],
      lastNames: [`${'de '.repeat(11)}W`],
    },
  ];
  it.each(longest.flatMap((name) => LOCALES.map((locale) => [name, locale] as const)))(
    '%j, %s',
    (name, locale) => {
      const faults = pageFaultsOf(typesetter, {
        person: { name, dateOfBirth: '1990-06-15' },
        locale,
        gender: 'neutral',
      });
      expect(faults.filter((fault) => /printed over|margin/.test(fault))).toEqual([]);
    },
  );
});

it('Random people have booklets without faults', () => {
  expect([...checkPages(typesetter, 4, 700)].flat()).toEqual([]);
});
