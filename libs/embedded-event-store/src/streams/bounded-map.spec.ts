import { expect, it } from '@jest/globals';
import { BoundedMap } from './bounded-map.js';

const KEYS = Array.from({ length: 1_000 }, (_, index) => index);

it('A bounded map forgets its oldest entries, however often', () => {
  const map = new BoundedMap<number, string>(3);
  for (const key of KEYS) {
    map.set(key, `value ${String(key)}`);
    const known = KEYS.filter((each) => map.get(each) !== undefined);
    expect(known).toEqual([key - 2, key - 1, key].filter((each) => each >= 0));
  }
  expect(map.get(999)).toBe('value 999');
});

it('An entry that is set again has the new value and the old age', () => {
  const map = new BoundedMap<string, number>(2);
  map.set('a', 1);
  map.set('b', 2);
  map.set('a', 3);
  expect(map.get('a')).toBe(3);
  map.set('c', 4);
  expect(['a', 'b', 'c'].map((key) => map.get(key))).toEqual([undefined, 2, 4]);
  map.set('a', 5);
  expect(['a', 'b', 'c'].map((key) => map.get(key))).toEqual([5, undefined, 4]);
});
