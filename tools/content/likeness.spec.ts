import { commonChild, commonPerson } from '#publishing/document/testing/random-people.js';
import { type Trial, trialDocument } from '#publishing/document/testing/trial.js';
import { expect, it } from '@jest/globals';
import { childLikenessOf, likenessOf } from './likeness.js';
import { limitFaults } from './limits.js';

const trial = (seed: number): Trial => ({
  person: commonPerson('en-US', seed),
  locale: 'en-US',
  gender: 'neutral',
});

it('Likeness is what two readings share, by what their people have in common', () => {
  // One person twice, and two others.
  const trials = [1, 1, 2, 3].map(trial);
  const found = likenessOf('en-US', trials, trials.map(trialDocument));
  expect(found.map(({ stratum }) => stratum)).toEqual([
    'any two',
    'one Life Path',
    'one Life Path and Expression',
    'one family name',
  ]);
  const [any, path, name, family] = found;
  expect(any).toMatchObject({ pairs: 6, p95: 1 });
  expect(any?.median).toBeLessThan(0.5);
  expect([path, name].map((each) => each?.median)).toEqual([1, 1]);
  expect(family?.pairs).toBe(150);
  expect(family?.median).toBeGreaterThan(0);
  expect(family).not.toHaveProperty('most');

  const stats = {
    locale: 'en-US',
    people: 4,
    words: [],
    forecast: [],
    childWords: [],
    sentences: [],
    choices: [],
    likeness: [],
    childLikeness: [],
  } as const;
  expect(limitFaults({ ...stats, likeness: found })).toHaveLength(3);
});

it('Children are measured by the same strata, and twins apart', () => {
  const children = [1, 1, 2, 3].map((seed): Trial => ({
    ...trial(seed),
    person: commonChild('en-US', seed),
  }));
  const found = childLikenessOf('en-US', children, children.map(trialDocument));
  const [any, path, , siblings, twins] = found;
  expect(any).toMatchObject({ stratum: 'any two', pairs: 6, p95: 1 });
  expect(path).toMatchObject({ stratum: 'one Life Path', p95: 1 });
  expect([siblings?.stratum, twins?.stratum]).toEqual(['one family name', 'one family name and date']);
  // One date gives one Life Path, one birthday and one forecast.
  expect(twins?.median).toBeGreaterThan(2 * (siblings?.median ?? 1));
  expect(twins?.median).toBeLessThan(1);
  for (const each of [siblings, twins]) expect(each).not.toHaveProperty('most');
});
