import { Resolver } from 'node:dns/promises';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { ThreadShare } from './connections.js';
import { resolveHost } from './sender.js';

const FOUR = ['192.0.2.1'];
const SIX = ['2001:db8::1'];
const NONE = new Error('ENODATA');
/** A query without an answer ends when its look-up is cancelled. */
const NEVER = null;
type Answer = readonly string[] | Error | null;

const answering = (four: Answer, six: Answer): void => {
  const ends: (() => void)[] = [];
  const query = (answer: Answer) => async () => {
    if (answer instanceof Error) throw answer;
    return answer ?? new Promise<never>((_, reject) => void ends.push(() => reject(new Error('ECANCELLED'))));
  };
  jest.spyOn(Resolver.prototype, 'resolve4').mockImplementation(query(four) as never);
  jest.spyOn(Resolver.prototype, 'resolve6').mockImplementation(query(six) as never);
  jest.spyOn(Resolver.prototype, 'cancel').mockImplementation(() => ends.splice(0).forEach((end) => end()));
};

describe('Resolving a name', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => {
    jest.useRealTimers();
    jest.restoreAllMocks();
  });

  it.each([
    ['both families', FOUR, SIX, [...FOUR, ...SIX]],
    ['the only one that has some', NONE, SIX, SIX],
  ])('finds the addresses of %s', async (_, four, six, found) => {
    answering(four, six);
    expect([...(await resolveHost('receiver.example'))].toSorted()).toEqual(found);
  });

  it('waits only briefly for a name server that never answers for IPv6', async () => {
    answering(FOUR, NEVER);
    const found = resolveHost('receiver.example');
    await jest.advanceTimersByTimeAsync(500);
    expect(await found).toEqual(FOUR);
  });

  it('rejects without an address, in the end also when nobody answers', async () => {
    answering(NONE, NONE);
    await expect(resolveHost('receiver.example')).rejects.toBe(NONE);
    answering(NEVER, NEVER);
    const failure = resolveHost('receiver.example').catch((error: unknown) => error);
    await jest.advanceTimersByTimeAsync(5_000);
    expect(await failure).toMatchObject({ message: 'ECANCELLED' });
  });
});

describe('The share that a workspace has of the thread', () => {
  it('is all of it for some usual connections, and a fifth of it whatever they take', () => {
    let now = 0;
    const thread = new ThreadShare(() => now);
    const usual = thread.of('usual');
    for (let made = 0; made < 50; made += 1) {
      expect(usual.waitMs()).toBe(0);
      usual.took(2);
    }
    const costly = thread.of('costly');
    let taken = 0;
    for (; taken < 9_000; taken += 90) {
      now += costly.waitMs();
      costly.took(90);
    }
    expect(taken / now).toBeCloseTo(0.2, 2);
  });
});
