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
let asking: (connection: Connection) => Promise<unknown>;
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
    ask: (connection) => asking(connection),
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
const failedRead = () => kept.observed('read', () => Promise.reject(away())).catch(() => undefined);
const answeredRead = () => kept.observed('read', () => Promise.resolve());
/** Fails reads until the next probe over a fresh connection is due. */
const becomeStuck = async (): Promise<void> => {
  for (let failure = 0; failure < 3; failure += 1) {
    await failedRead();
    await passes(STUCK_AFTER_MS / 3 - 100);
  }
};

describe('during a probe over a fresh connection', () => {
  it('a connection that recovers is kept', async () => {
    let answer: () => void = () => undefined;
    await becomeStuck();
    asking = () => new Promise<void>((resolve) => (answer = resolve));
    await passes(2_000);
    expect(opened).toBe(2);
    const own = kept.current();
    await answeredRead();
    answer();
    await passes(100);
    expect([kept.renewals, kept.beyondHelp]).toEqual([0, false]);
    expect(said).toEqual([GONE, BACK]);
    expect(kept.current()).toBe(own);
    // The answered read still counts: later failures start a new count.
    await failedRead();
    await passes(2_000);
    expect(opened).toBe(2);
  });

  it('a connection that stays stuck is renewed', async () => {
    await becomeStuck();
    await passes(2_000);
    expect([kept.renewals, opened, closed]).toEqual([1, 3, 2]);
    await answeredRead();
    // Still one line when the store goes, and one when it is back.
    expect(said).toEqual([GONE, BACK_RENEWED]);
  });

  it('a connection on which only appends are stuck is renewed, and the log says so', async () => {
    for (let failure = 0; failure < 3; failure += 1) {
      await kept.observed('append', () => Promise.reject(away())).catch(() => undefined);
      await passes(STUCK_AFTER_MS / 3);
    }
    await passes(2_000);
    expect(kept.renewals).toBe(1);
    expect(said).toEqual([expect.stringContaining('the connection is renewed')]);
  });
});

describe('a connection that cannot be opened', () => {
  const outOfFiles = (): never => {
    throw Object.assign(new Error('secret in a message'), { code: 'EMFILE' });
  };

  it('is opened later if it was to replace another', async () => {
    await becomeStuck();
    const asked = opened + 1;
    opening = () => (opened === asked ? outOfFiles() : undefined);
    await passes(2_000);
    expect(kept.renewals).toBe(1);
    expect(() => kept.current()).toThrow(StoreUnavailable);
    expect(said.at(-1)).toContain('EMFILE');
    expect(said.join()).not.toContain('secret');
    opening = () => undefined;
    await passes(2_000);
    expect(kept.current()).toBeDefined();
  });

  it('says nothing about the store if it was a probe', async () => {
    await becomeStuck();
    const own = kept.current();
    opening = outOfFiles;
    await passes(2_000);
    expect([kept.renewals, kept.current()]).toEqual([0, own]);
    expect(said).toEqual([GONE, expect.stringContaining('EMFILE')]);
  });
});

describe('a check of the connection', () => {
  it('reports an unexpected error once', async () => {
    asking = () => Promise.reject(new TypeError('of the program'));
    await passes(4 * STUCK_AFTER_MS);
    expect(said).toEqual([expect.stringContaining('TypeError')]);
  });

  it('reports once that the store has gone, and once that it is back', async () => {
    await answeredRead();
    asking = () => Promise.reject(away());
    await passes(4 * STUCK_AFTER_MS);
    expect(said).toEqual([GONE]);
    asking = () => Promise.resolve();
    await passes(STUCK_AFTER_MS);
    await passes(STUCK_AFTER_MS);
    expect(said).toEqual([GONE, BACK_RENEWED]);
  });

  it('reports no call that fails between others', async () => {
    for (let call = 0; call < 20; call += 1) {
      await failedRead();
      await failedRead();
      await answeredRead();
    }
    expect(said).toEqual([]);
  });
});
