import { expect, it } from '@jest/globals';
import { sharedAnswer } from './shared-answer.js';

it.each(['an answer', 'an error'])(
  '%s is shared while it is found and fresh, and is found again after that',
  async (kind) => {
    let [asked, time] = [0, 0];
    let finish = (): void => undefined;
    const ask = sharedAnswer(
      1_000,
      () =>
        new Promise<number>((resolve, reject) => {
          asked += 1;
          finish = () => (kind === 'an answer' ? resolve(asked) : reject(new Error(String(asked))));
        }),
      () => time,
    );
    const told = () => ask().catch((error: unknown) => Number((error as Error).message));
    const first = [told(), told()];
    time = 5_000;
    first.push(told());
    finish();
    expect(await Promise.all(first)).toEqual([1, 1, 1]);
    time = 5_999;
    expect(await told()).toBe(1);
    time = 6_000;
    const second = [told(), told()];
    finish();
    expect(await Promise.all(second)).toEqual([2, 2]);
  },
);
