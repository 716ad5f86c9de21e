import { describe, expect, it } from '@jest/globals';
import { AddressBuckets } from './address-buckets.js';

const policy = { perMinute: 60, burst: 3 };
const at = (capacity: number) => {
  const clock = { now: 0 };
  return { clock, buckets: new AddressBuckets(policy, capacity, () => clock.now) };
};
const taken = (buckets: AddressBuckets, address: string, times: number): number[] =>
  Array.from({ length: times }, () => buckets.take(address));

describe('The bucket of an address', () => {
  it('gives its burst, then reports when the next token is available', () => {
    const { clock, buckets } = at(10);
    expect(taken(buckets, 'a', 5)).toEqual([0, 0, 0, 1, 1]);
    clock.now = 2_000;
    expect(taken(buckets, 'a', 3)).toEqual([0, 0, 1]);
    clock.now = 3_600_000;
    expect(taken(buckets, 'a', 4)).toEqual([0, 0, 0, 1]);
  });

  it('returns a wait in whole seconds, rounded up', () => {
    const buckets = new AddressBuckets({ perMinute: 1, burst: 1 }, 10, () => 0);
    expect(taken(buckets, 'a', 2)).toEqual([0, 60]);
  });

  it('is separate for each address', () => {
    const { buckets } = at(10);
    taken(buckets, 'a', 4);
    expect(buckets.take('b')).toBe(0);
  });
});

describe('The table of buckets', () => {
  it('forgets the address that was seen least recently beyond its capacity', () => {
    const { buckets } = at(2);
    taken(buckets, 'a', 3);
    taken(buckets, 'b', 3);
    buckets.take('a');
    expect(buckets.take('c')).toBe(0);
    expect(buckets.take('a')).toBe(1);
    expect(buckets.take('b')).toBe(0);
  });
});
