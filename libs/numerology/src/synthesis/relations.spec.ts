import { describe, expect, it } from '@jest/globals';
import { relationOf, relations } from './relations.js';

describe('the relation of two roots', () => {
  it('is settled for all 45 pairs, each once', () => {
    expect(relations).toHaveLength(45);
    expect(new Set(relations.map(({ pair }) => pair.join())).size).toBe(45);
  });

  it('is the same in either order', () => {
    for (const { pair, relation } of relations) {
      expect(relationOf(pair[0], pair[1])).toBe(relation);
      expect(relationOf(pair[1], pair[0])).toBe(relation);
    }
  });

  it('is `same` exactly for a root with itself', () => {
    for (const { pair, relation } of relations) expect(relation === 'same').toBe(pair[0] === pair[1]);
  });

  it('makes allies of the traditional concords 1-5-7, 2-4-8 and 3-6-9', () => {
    for (const [a, b, c] of [
      [1, 5, 7],
      [2, 4, 8],
      [3, 6, 9],
    ] as const) {
      expect([relationOf(a, b), relationOf(b, c), relationOf(a, c)]).toEqual(['ally', 'ally', 'ally']);
    }
  });

  it('gives every root an ally, a complement and a friction', () => {
    for (let root = 1; root <= 9; root += 1) {
      const held = relations.filter(({ pair }) => pair.some((other) => other === root));
      expect(new Set(held.map(({ relation }) => relation)).size).toBe(4);
    }
  });

  it('does not exist for a number that is no root', () => {
    expect(() => relationOf(0, 4)).toThrow(RangeError);
    expect(() => relationOf(11, 4)).toThrow(RangeError);
  });
});
