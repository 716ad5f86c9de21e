import { describe, expect, it } from '@jest/globals';
import { setTimeout as delay } from 'node:timers/promises';
import { withDeadline } from './deadline.js';

const never = () => new Promise<never>(() => undefined);
const tooLate = (): never => {
  throw new Error('too late');
};

describe('withDeadline', () => {
  it('yields the result or the error of work that ends in time', async () => {
    expect(await withDeadline(1_000, async () => 7, tooLate)).toBe(7);
    const fails = withDeadline(1_000, () => Promise.reject(new Error('broken')), tooLate);
    await expect(fails).rejects.toThrow('broken');
  });

  it('yields or throws the given alternative for work that takes longer', async () => {
    expect(await withDeadline(5, never, () => null)).toBeNull();
    await expect(withDeadline(5, never, tooLate)).rejects.toThrow('too late');
  });

  it('aborts the work’s signal, and survives its later failure', async () => {
    let isGivenUp = false;
    const work = async (givenUp: AbortSignal) => {
      await delay(20);
      isGivenUp = givenUp.aborted;
      throw new Error('nobody waits');
    };
    expect(await withDeadline(5, work, () => 'late')).toBe('late');
    await delay(40);
    expect(isGivenUp).toBe(true);
  });
});
