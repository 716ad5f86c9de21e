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
  it('never exceeds its capacity', () => {
    const { buckets } = at(100);
    for (let n = 0; n < 10_000; n += 1) buckets.take(String(n));
    expect(buckets.size).toBe(100);
  });

  it('does not forget an address without tokens because many others arrive', () => {
    const { buckets } = at(100);
    taken(buckets, 'a', 3);
    for (let n = 0; n < 10_000; n += 1) buckets.take(String(n));
    expect(buckets.take('a')).toBe(1);
  });

  it('lets new addresses share one count while it is full', () => {
    const { clock, buckets } = at(2);
    taken(buckets, 'a', 3);
    taken(buckets, 'b', 3);
    expect(['c', 'd', 'e', 'f'].map((address) => buckets.take(address))).toEqual([0, 0, 0, 1]);
    clock.now = 60_000;
    expect(taken(buckets, 'f', 4)).toEqual([0, 0, 0, 1]);
    expect(buckets.size).toBe(2);
  });
});

describe('A full table', () => {
  it('forgets a full bucket although the oldest one is empty', () => {
    const clock = { now: 0 };
    const drained = new AddressBuckets({ perMinute: 60, burst: 60 }, 20, () => clock.now);
    taken(drained, 'drained', 60);
    for (let n = 0; n < 19; n += 1) drained.take(String(n));
    clock.now += 2_000;
    // All but the oldest are full again: each newcomer gets its own count.
    for (let n = 0; n < 19; n += 1) expect(taken(drained, `new ${n}`, 20)).toEqual(Array(20).fill(0));
    expect(drained.size).toBe(20);
  });

  it('checks only the first sixteen, and keeps empty ones', () => {
    const clock = { now: 0 };
    const buckets = new AddressBuckets({ perMinute: 60, burst: 60 }, 20, () => clock.now);
    for (let n = 0; n < 16; n += 1) taken(buckets, `drained ${n}`, 60);
    for (let n = 0; n < 4; n += 1) buckets.take(String(n));
    clock.now = 2_000;
    // They share one count.
    expect([...taken(buckets, 'a', 40), ...taken(buckets, 'b', 40)].filter((wait) => wait > 0)).toHaveLength(
      20,
    );
    expect(taken(buckets, 'drained 0', 4).at(-1)).toBeGreaterThan(0);
  });
});
