import { describe, expect, it } from '@jest/globals';
import { sharedAnswer } from './shared-answer.js';

describe('a shared answer', () => {
  it('is computed once for all concurrent callers, and again when it is no longer fresh', async () => {
    let [found, time] = [0, 0];
    let finish = (): void => undefined;
    const ask = sharedAnswer(
      1_000,
      () => new Promise<number>((resolve) => (finish = () => resolve((found += 1)))),
      () => time,
    );
    const first = [ask(), ask()];
    time = 5_000;
    first.push(ask());
    finish();
    expect(await Promise.all(first)).toEqual([1, 1, 1]);
    time = 5_999;
    expect(await ask()).toBe(1);
    time = 6_000;
    const second = [ask(), ask()];
    finish();
    expect(await Promise.all(second)).toEqual([2, 2]);
  });

  it('also shares an error, and is computed again after it', async () => {
    let [asked, time] = [0, 0];
    const ask = sharedAnswer(
      10,
      async () => {
        asked += 1;
        if (asked === 1) throw new Error('away');
        return asked;
      },
      () => time,
    );
    await expect(ask()).rejects.toThrow('away');
    await expect(ask()).rejects.toThrow('away');
    time = 10;
    expect(await ask()).toBe(2);
  });
});
