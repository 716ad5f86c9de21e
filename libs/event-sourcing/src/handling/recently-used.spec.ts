import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { RecentlyUsed } from './recently-used.js';

describe('RecentlyUsed', () => {
  it('forgets the least recently used value', () => {
    const map = new RecentlyUsed<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    map.get('a');
    map.set('c', 3);
    expect(['a', 'b', 'c'].map((key) => map.get(key))).toEqual([1, undefined, 3]);
  });

  it('counts a value set again as used, and only once', () => {
    const map = new RecentlyUsed<string, number>(2);
    map.set('a', 1);
    map.set('b', 2);
    map.set('a', 4);
    map.set('c', 3);
    expect(['a', 'b', 'c'].map((key) => map.get(key))).toEqual([4, undefined, 3]);
  });

  it('keeps nothing with a capacity of zero', () => {
    const map = new RecentlyUsed<string, number>(0);
    map.set('a', 1);
    expect(map.get('a')).toBeUndefined();
  });

  it('keeps what a plain list of recent uses would keep', () => {
    const step = fc.record({
      use: fc.constantFrom('get', 'set', 'delete'),
      key: fc.integer({ min: 0, max: 7 }),
    });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.array(step, { maxLength: 80 }), (capacity, steps) => {
        const map = new RecentlyUsed<number, number>(capacity);
        let list: { key: number; value: number }[] = [];
        for (const [value, { use, key }] of steps.entries()) {
          const known = list.find((entry) => entry.key === key);
          const rest = list.filter((entry) => entry.key !== key);
          if (use === 'get') {
            expect(map.get(key)).toBe(known?.value);
            list = [...rest, ...(known ? [known] : [])];
          } else if (use === 'set') {
            map.set(key, value);
            list = [...rest, { key, value }].slice(-capacity);
          } else {
            map.delete(key);
            list = rest;
          }
        }
        for (const { key, value } of list) expect(map.get(key)).toBe(value);
        expect([0, 1, 2, 3, 4, 5, 6, 7].filter((key) => map.get(key) !== undefined)).toHaveLength(
          list.length,
        );
      }),
    );
  });
});
