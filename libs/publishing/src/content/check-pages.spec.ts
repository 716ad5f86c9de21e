import { describe, expect, it } from '@jest/globals';
import { createTypesetter } from '../pdf/typesetter.js';
import { checkPages, HARD_TO_LAY_OUT, pageFaultsOf } from './check-pages.js';
import { LOCALES } from './trial.js';

const typesetter = createTypesetter();

describe('The booklets of people who are hard to lay out', () => {
  const cases = HARD_TO_LAY_OUT.flatMap((person) =>
    LOCALES.map((locale) => [person.name.lastNames.join(' '), locale, person] as const),
  );
  it.each(cases)('%s, %s', (_, locale, person) => {
    expect(pageFaultsOf(typesetter, { person, locale, gender: 'neutral' })).toEqual([]);
  });
});

it('Random people have booklets without faults', () => {
  expect([...checkPages(typesetter, 4, 700)].flat()).toEqual([]);
});
