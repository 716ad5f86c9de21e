import { describe, expect, it } from '@jest/globals';
import { type Digit, DIGITS, figure } from './arithmetic.js';
import { type Stage, stages } from './cycles.js';
import { bridges, soulUrge } from './numbers.js';
import { relationOf, threads, type WeighedNumbers, weights } from './synthesis.js';

type Roots = Record<'lifePath' | 'expression' | 'soulUrge' | 'personality' | 'birthday' | 'maturity', number>;

const DIFFERENT: Roots = {
  lifePath: 1,
  expression: 7,
  soulUrge: 3,
  personality: 9,
  birthday: 4,
  maturity: 8,
};
/** Of a name without a vowel. */
const NO_VOWEL = soulUrge([]);

const number = (value: number) => ({ ...figure(value), parts: [], day: 1 });

interface More {
  readonly lessons?: Digit[];
  readonly age?: number;
  readonly pinnacles?: Stage[];
  readonly periods?: Stage[];
  readonly passion?: Digit[];
  readonly noVowel?: true;
}

const threadsOf = (roots: Partial<Roots>, more: More = {}): string[] => {
  const all = { ...DIFFERENT, ...roots };
  const numbers: WeighedNumbers = {
    lifePath: number(all.lifePath),
    expression: number(all.expression),
    soulUrge: more.noVowel ? NO_VOWEL : number(all.soulUrge),
    personality: number(all.personality),
    birthday: number(all.birthday),
    maturity: number(all.maturity),
  };
  return threads({
    age: more.age ?? 20,
    numbers,
    grid: { lessons: more.lessons ?? [2] },
    bridges: bridges(numbers.lifePath, numbers.expression, numbers.soulUrge, numbers.personality),
    cycles: { pinnacles: more.pinnacles ?? [], periods: more.periods ?? [] },
    weights: weights(numbers, { hiddenPassion: more.passion ?? [5] }),
  });
};

it.each<[string, string, Partial<Roots>, More]>([
  ['a root that holds three positions', 'echo:6', { lifePath: 6, birthday: 33, maturity: 6 }, {}],
  ['the dominant root otherwise', 'dominant:7', { soulUrge: 7 }, {}],
  // Life Path 1 weighs 4; Expression 7 weighs 3 and a hidden passion 1.
  ['on a tie the root of the heavier position', 'dominant:1', {}, { passion: [7] }],
  ['friction, however near', 'tension:lifePath-expression:1', { lifePath: 3, expression: 4 }, {}],
  [
    'the wider of two frictions',
    'tension:soulUrge-personality:4',
    { lifePath: 3, expression: 4, soulUrge: 3, personality: 7 },
    {},
  ],
  ['the wider bridge when nothing rubs', 'tension:lifePath-expression:6', {}, {}],
  ['the missing letter that the heaviest number supplies', 'lesson-in-core:3', {}, { lessons: [3, 8] }],
  ['one that Maturity supplies', 'lesson-in-core:8', {}, { lessons: [8] }],
  ['a master of 33', 'rare:33', { maturity: 33 }, {}],
  ['many missing values', 'rare:five-lessons', {}, { lessons: [1, 2, 3, 4, 5] }],
  ['a name without a vowel', 'rare:no-vowel', {}, { noVowel: true }],
  ['a name with every value', 'rare:all-nine', {}, { lessons: [] }],
])('A theme tells of %s', (_, thread, roots, more) => {
  expect(threadsOf(roots, more)).toContain(thread);
});

it.each<[string, string, Partial<Roots>, More]>([
  ['tension of equal numbers or an absent one', 'tension', { expression: 1 }, { noVowel: true }],
  ['a resource in the day of birth', 'lesson-in-core', { birthday: 4 }, { lessons: [4] }],
  ['rare traits where there are none', 'rare', {}, {}],
])('A theme tells of no %s', (_, kind, roots, more) => {
  expect(threadsOf(roots, more).filter((thread) => thread.startsWith(kind))).toEqual([]);
});

describe('the threshold', () => {
  const pinnacles = stages([1, 2, 3, 4], [30, 39, 48], 1990, 0);
  const periods = stages([1, 2, 3], [31, 58], 1990, 0);

  it.each([
    [0, undefined],
    [27, undefined],
    [28, 'threshold:pinnacle-2:30'],
    [30, 'threshold:pinnacle-2:30'],
    [31, 'threshold:period-2:31'],
    [32, 'threshold:period-2:31'],
    [33, undefined],
    [56, 'threshold:period-3:58'],
  ])('at %i is %s', (age, thread) => {
    const told = threadsOf({}, { age, pinnacles, periods });
    expect(told.find((id) => id.startsWith('threshold'))).toBe(thread);
  });

  it('of two equally near is the one still to come', () => {
    const stagesOf = { pinnacles: stages([1, 2], [30], 1990, 0), periods: stages([1, 2], [32], 1990, 0) };
    expect(threadsOf({}, { age: 31, ...stagesOf })).toContain('threshold:period-2:32');
  });
});

describe('the relation of two roots', () => {
  it('is the same in either order, and each root has an ally, a complement and a friction', () => {
    for (const one of DIGITS) {
      expect(new Set(DIGITS.map((other) => relationOf(one, other))).size).toBe(4);
      for (const other of DIGITS) {
        expect(relationOf(one, other)).toBe(relationOf(other, one));
        expect(relationOf(one, other) === 'same').toBe(one === other);
      }
    }
  });

  it.each([0, 10, 11])('does not exist for %i, which is no root', (number) => {
    expect(() => relationOf(number, 4)).toThrow(RangeError);
  });
});
