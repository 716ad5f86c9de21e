import { describe, expect, it } from '@jest/globals';
import { Recurring } from './recurring.js';

const MINUTE = 60_000;

describe('something that keeps happening', () => {
  it('is said at once, and then at growing intervals, with how often it happened', () => {
    let now = 0;
    const recurring = new Recurring(() => now);
    const said: [minute: number, times: number][] = [];
    for (; now < 200 * MINUTE; now += MINUTE / 2) {
      const times = recurring.happened('x');
      if (times > 0) said.push([now / MINUTE, times]);
    }
    expect(said).toEqual([
      [0, 1],
      [1, 2],
      [3, 4],
      [7, 8],
      [15, 16],
      [31, 32],
      [63, 64],
      [123, 120],
      [183, 120],
    ]);
  });

  it('is said at once when it is something else, or happens again after it was over', () => {
    let now = 0;
    const recurring = new Recurring(() => now);
    expect([recurring.happened('x'), recurring.happened('x'), recurring.happened('y')]).toEqual([1, 0, 1]);
    recurring.over();
    expect(recurring.happened('x')).toBe(1);
    now += 3 * 60 * MINUTE;
    expect(recurring.happened('x')).toBe(1);
  });
});
