import { describe, expect, it } from '@jest/globals';
import { foldToWords, lettersOf } from '../name/words.js';
import { PLANE_LETTERS, planes } from './planes.js';

describe('the planes of expression', () => {
  it('share out the alphabet, each letter once', () => {
    expect([...Object.values(PLANE_LETTERS).join('')].sort().join('')).toBe('ABCDEFGHIJKLMNOPQRSTUVWXYZ');
  });

  it('count and add their letters, masters kept, 0 for an empty plane', () => {
    const { words } = foldToWords({ firstNames: ['Dede'], middleNames: [], lastNames: ['Wem'] });
    expect(planes(lettersOf(words))).toEqual({
      physical: { count: 7, sum: 32, value: 5 },
      mental: { count: 0, sum: 0, value: 0 },
      emotional: { count: 0, sum: 0, value: 0 },
      intuitive: { count: 0, sum: 0, value: 0 },
    });
  });
});
