import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import type { Connection } from './connection.js';
import { StoreUnavailable } from './errors.js';
import { keepConnected, type KeptConnection } from './kept-connection.js';

const STUCK_AFTER_MS = 15_000;
const GONE = 'the event store does not answer; calls to it are tried again';
const BACK = expect.stringMatching(/^the event store answers again after \d+\.\d s$/);
const BACK_RENEWED = expect.stringMatching(/ again after \d+\.\d s, over a new connection$/);
const away = (): StoreUnavailable => new StoreUnavailable('away', false);

let kept: KeptConnection;
let opened: number;
let closed: number;
let opening: () => void;
let asking: (isFresh: boolean) => Promise<unknown>;
let said: string[];

beforeEach(() => {
  jest.useFakeTimers();
  [opened, closed, said] = [0, 0, []];
  opening = () => undefined;
  asking = () => Promise.resolve();
  kept = keepConnected({
    open: () => {
      opening();
      opened += 1;
      return { close: () => Promise.resolve(void (closed += 1)) } as unknown as Connection;
    },
    ask: (_, { isFresh }) => asking(isFresh),
    confirmWithinMs: 1_000,
    stuckAfterMs: STUCK_AFTER_MS,
    quietMs: STUCK_AFTER_MS / 3,
    report: (message) => said.push(message),
  });
});

afterEach(async () => {
  await kept.close();
  jest.useRealTimers();
});

const passes = (milliseconds: number) => jest.advanceTimersByTimeAsync(milliseconds);
const failedRead = () => kept.observed(() => Promise.reject(away())).catch(() => undefined);
const answeredRead = () => kept.observed(() => Promise.resolve());
/** Fails reads until another connection is about to be tried. */
const becomeStuck = async (): Promise<void> => {
  for (let failure = 0; failure < 3; failure += 1) {
    await failedRead();
    await passes(STUCK_AFTER_MS / 3 - 100);
  }
};

describe('a connection whose reads are stuck', () => {
  it('is replaced by one over which the store has answered', async () => {
    const own = kept.current();
    await becomeStuck();
    await passes(2_000);
    expect([kept.renewals, opened, closed, kept.current() === own]).toEqual([1, 2, 1, false]);
    await answeredRead();
    // One line when the store goes, and one when it is back.
    expect(said).toEqual([GONE, BACK_RENEWED]);
  });

  it('is kept when it recovers meanwhile', async () => {
    let answer: () => void = () => undefined;
    await becomeStuck();
    asking = () => new Promise<void>((resolve) => (answer = resolve));
    await passes(2_000);
    const own = kept.current();
    await answeredRead();
    answer();
    await passes(100);
    expect([kept.renewals, opened, closed, kept.current() === own]).toEqual([0, 2, 1, true]);
    expect(said).toEqual([GONE, BACK]);
  });

  it('is kept while the store answers nobody, however long that lasts', async () => {
    asking = () => Promise.reject(away());
    await passes(50 * STUCK_AFTER_MS);
    expect([kept.renewals, kept.beyondHelp, said]).toEqual([0, false, [GONE]]);
    expect(opened - closed).toBe(1);
    asking = () => Promise.resolve();
    await passes(STUCK_AFTER_MS);
    expect(said).toEqual([GONE, BACK]);
  });

  it('is replaced twice in vain, and then counts as unusable until a read is answered', async () => {
    const states: boolean[] = [];
    asking = (isFresh) => (isFresh ? Promise.resolve() : Promise.reject(away()));
    for (let round = 0; round < 3; round += 1) {
      await becomeStuck();
      await passes(2_000);
      states.push(kept.beyondHelp);
    }
    expect(states).toEqual([false, false, true]);
    expect(said.at(-1)).toContain('must be restarted');
    await answeredRead();
    expect(kept.beyondHelp).toBe(false);
  });

  it('is kept when no other can be opened', async () => {
    await becomeStuck();
    const own = kept.current();
    opening = () => {
      throw Object.assign(new Error('secret in a message'), { code: 'EMFILE' });
    };
    await passes(2_000);
    expect([kept.renewals, kept.current()]).toEqual([0, own]);
    expect(said).toEqual([GONE, expect.stringContaining('EMFILE')]);
    expect(said.join()).not.toContain('secret');
  });
});
