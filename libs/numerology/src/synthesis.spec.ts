import { describe, expect, it } from '@jest/globals';
import { type Digit, DIGITS, figure } from './arithmetic.js';
import { type Stage, stages } from './cycles.js';
import { relationOf, threads, type ThreadSource, type WeighedNumbers, weights } from './synthesis.js';

interface Roots {
  lifePath: number;
  expression: number;
  soulUrge: number | null;
  personality: number;
  birthday: number;
  maturity: number;
}

const DIFFERENT: Roots = {
  lifePath: 1,
  expression: 7,
  soulUrge: 3,
  personality: 9,
  birthday: 4,
  maturity: 8,
};
const ABSENT = {
  value: null,
  root: null,
  master: false,
  karmicDebt: null,
  chain: [],
  display: '–',
  parts: [],
} as const;

const number = (value: number) => ({ ...figure(value), parts: [], day: 1 });

function source(
  roots: Partial<Roots>,
  more: { lessons?: Digit[]; age?: number; pinnacles?: Stage[]; periods?: Stage[]; passion?: Digit[] } = {},
): ThreadSource {
  const all = { ...DIFFERENT, ...roots };
  const numbers: WeighedNumbers = {
    lifePath: number(all.lifePath),
    expression: number(all.expression),
    soulUrge: all.soulUrge === null ? ABSENT : number(all.soulUrge),
    personality: number(all.personality),
    birthday: number(all.birthday),
    maturity: number(all.maturity),
  };
  return {
    age: more.age ?? 20,
    numbers,
    grid: { lessons: more.lessons ?? [2] },
    bridges: {
      lifePathExpression: Math.abs(numbers.lifePath.root - numbers.expression.root),
      soulUrgePersonality:
        numbers.soulUrge.root === null || numbers.personality.root === null
          ? null
          : Math.abs(numbers.soulUrge.root - numbers.personality.root),
    },
    cycles: { pinnacles: more.pinnacles ?? [], periods: more.periods ?? [] },
    weights: weights(numbers, { hiddenPassion: more.passion ?? [5] }),
  };
}

describe('the opening thread', () => {
  it('is an echo when a root holds three positions', () => {
    expect(threads(source({ lifePath: 6, birthday: 33, maturity: 6 }))[0]).toBe('echo:6');
  });

  it('is the dominant root otherwise', () => {
    expect(threads(source({ soulUrge: 7 }))[0]).toBe('dominant:7');
  });

  it('prefers the heavier position on a tie', () => {
    // Life Path 1 weighs 4; Expression 7 weighs 3 and a hidden passion 1.
    expect(threads(source({}, { passion: [7] }))[0]).toBe('dominant:1');
  });
});

describe('the tension', () => {
  it('is a pair in friction, however near its numbers', () => {
    expect(threads(source({ lifePath: 3, expression: 4 }))).toContain('tension:lifePath-expression:1');
  });

  it('is the wider of two frictions', () => {
    const both = source({ lifePath: 3, expression: 4, soulUrge: 3, personality: 7 });
    expect(threads(both)).toContain('tension:soulUrge-personality:4');
  });

  it('is the wider bridge when nothing rubs', () => {
    expect(threads(source({ lifePath: 1, expression: 7, soulUrge: 3, personality: 9 }))).toContain(
      'tension:lifePath-expression:6',
    );
  });

  it('does not exist between equal numbers or with an absent one', () => {
    const none = source({ lifePath: 1, expression: 1, soulUrge: null });
    expect(threads(none).some((thread) => thread.startsWith('tension'))).toBe(false);
  });
});

describe('the resource', () => {
  it('is a missing letter that a number to be lived supplies, heaviest number first', () => {
    expect(threads(source({}, { lessons: [3, 8] }))).toContain('lesson-in-core:3');
    expect(threads(source({}, { lessons: [8] }))).toContain('lesson-in-core:8');
  });

  it('is not the day of birth', () => {
    expect(threads(source({ birthday: 4 }, { lessons: [4] })).join()).not.toContain('lesson-in-core');
  });
});

describe('the threshold', () => {
  const pinnacles = stages([1, 2, 3, 4], [30, 39, 48], 1990, 0);
  const periods = stages([1, 2, 3], [31, 58], 1990, 0);
  const at = (age: number) =>
    threads(source({}, { age, pinnacles, periods })).find((id) => id.startsWith('threshold'));

  it.each([
    [0, undefined],
    [27, undefined],
    [28, 'threshold:pinnacle-2:30'],
    [30, 'threshold:pinnacle-2:30'],
    [31, 'threshold:period-2:31'],
    [32, 'threshold:period-2:31'],
    [33, undefined],
    [56, 'threshold:period-3:58'],
    [60, undefined],
  ])('at %i is %s', (age, thread) => expect(at(age)).toBe(thread));
});

describe('two thresholds equally near', () => {
  it('give way to the one still to come', () => {
    const pinnacles = stages([1, 2], [30], 1990, 0);
    const periods = stages([1, 2], [32], 1990, 0);
    expect(threads(source({}, { age: 31, pinnacles, periods }))).toContain('threshold:period-2:32');
  });
});

describe('the rare trait', () => {
  it.each([
    ['rare:33', source({ maturity: 33 })],
    ['rare:five-lessons', source({}, { lessons: [1, 2, 3, 4, 5] })],
    ['rare:no-vowel', source({ soulUrge: null })],
    ['rare:all-nine', source({}, { lessons: [] })],
  ])('is %s', (thread, theme) => expect(threads(theme).at(-1)).toBe(thread));

  it('is left out of most themes', () => {
    expect(threads(source({})).some((thread) => thread.startsWith('rare'))).toBe(false);
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

  it.each(['157', '248', '369'])('is ally within the traditional concord %s', (concord) => {
    const [a, b, c] = [...concord].map(Number) as [number, number, number];
    expect([relationOf(a, b), relationOf(b, c), relationOf(a, c)]).toEqual(['ally', 'ally', 'ally']);
  });

  it.each([0, 10, 11])('does not exist for %i, which is no root', (number) => {
    expect(() => relationOf(number, 4)).toThrow(RangeError);
  });
});
