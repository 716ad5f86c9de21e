import { LOCALES } from '#publishing/document/testing/trial.js';
import { createTypesetter } from '#publishing/pdf/typesetter.js';
import { describe, expect, it } from '@jest/globals';
import { checkPages, HARD_TO_LAY_OUT, pageFaultsOf } from './check-pages.js';

const typesetter = createTypesetter();

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
