import { describe, expect, it } from '@jest/globals';
import { bandOf, concordOf, personKey, pick } from './choice.js';
import { camille, resultOf } from './testing/people.js';

describe('A choice between equal forms', () => {
  it('depends on the folded name, the date of birth and the entry alone', () => {
    const accented = {
      ...camille,
      name: { ...camille.name, firstNames: ['camillé'] },
    };
    expect(personKey(resultOf(accented, 'en-US', 'feminine'))).toBe(personKey(resultOf(camille)));
    expect(personKey(resultOf(camille))).toBe('CAMILLE MARIE LAURENT 1990-06-15');
  });

  it('is the same for ever', () => {
    expect(['a', 'b', 'c', 'd', 'e'].map((key) => pick('CAMILLE LAURENT 1990-06-15', key, 3))).toEqual([
      2, 1, 0, 2, 1,
    ]);
  });

  it('falls on each form about as often', () => {
    const counts = [0, 0, 0];
    for (let person = 0; person < 3_000; person += 1) {
      const at = pick(`PERSON ${person}`, 'life-path/7 lead', 3);
      counts[at] = (counts[at] ?? 0) + 1;
    }
    for (const count of counts) expect(Math.abs(count - 1_000)).toBeLessThan(100);
  });
});

it.each([
  [7, '7-15'],
  [15, '7-15'],
  [16, '16-29'],
  [29, '16-29'],
  [30, undefined],
  [59, undefined],
  [60, '60-79'],
  [79, '60-79'],
  [80, '80+'],
  [120, '80+'],
])('The age of %i is in the band %s', (age, band) => {
  expect(bandOf(age)).toBe(band);
});

it('A root belongs to one of three groups', () => {
  expect([1, 2, 3, 4, 5, 6, 7, 8, 9].map(concordOf)).toEqual([
    '1-5-7', '2-4-8', '3-6-9', '2-4-8', '1-5-7', '3-6-9', '1-5-7', '2-4-8', '3-6-9',
  ]); // prettier-ignore
});
