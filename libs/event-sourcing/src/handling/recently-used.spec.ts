import { describe, expect, it } from '@jest/globals';
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
});
