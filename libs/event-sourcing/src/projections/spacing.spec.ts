import { describe, expect, it } from '@jest/globals';
import { spacingByLoad } from './spacing.js';

/** The spacing after each pair of times, in milliseconds: first active, then idle. */
const spacings = (prompt: boolean, ...spent: readonly (readonly [number, number])[]): number[] => {
  let [active, idle] = [700, 300];
  const spacing = spacingByLoad(prompt, () => ({ active, idle }));
  return spent.map(([busy, waiting]) => {
    active += busy;
    idle += waiting;
    return spacing();
  });
};

describe('the spacing of batches', () => {
  it('grows while the process is busy, and shrinks when it no longer is', () => {
    expect(spacings(false, [10, 40], [40, 10], [150, 50], [50, 150])).toEqual([50, 200, 200, 50]);
  });

  it('stays short for a consumer that somebody waits for', () => {
    expect(spacings(true, [10, 40], [40, 10], [150, 50])).toEqual([50, 50, 50]);
  });

  it('is short when no time has passed', () => {
    expect(spacings(false, [0, 0])).toEqual([50]);
  });
});
