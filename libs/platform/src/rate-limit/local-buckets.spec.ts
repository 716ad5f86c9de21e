import { expect, it } from '@jest/globals';
import { LocalBuckets } from './local-buckets.js';

it('The bucket of an address gives its burst, then says when the next token is available', () => {
  let now = 0;
  const buckets = new LocalBuckets({ perMinute: 60, burst: 3 }, 10, () => now);
  const taken = (times: number) => Array.from({ length: times }, () => buckets.take('a'));
  expect(taken(5)).toEqual([0, 0, 0, 1, 1]);
  expect(buckets.take('b')).toBe(0);
  now = 2_000;
  expect(taken(3)).toEqual([0, 0, 1]);
  now = 3_600_000;
  expect(taken(4)).toEqual([0, 0, 0, 1]);
});

it('Beyond its capacity, the address that was seen least recently is forgotten; waits are in whole seconds', () => {
  const buckets = new LocalBuckets({ perMinute: 1, burst: 1 }, 2, () => 0);
  expect(['a', 'b', 'a', 'c', 'a', 'b'].map((address) => buckets.take(address))).toEqual([
    0, 0, 60, 0, 60, 0,
  ]);
});
