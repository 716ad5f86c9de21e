import { describe, expect, it } from '@jest/globals';
import { InFlightLimit } from './in-flight-limit.js';

const startAll = (limit: InFlightLimit): number => {
  let started = 0;
  for (; limit.available > 0; started += 1) limit.start();
  return started;
};

describe('The in-flight limit of a worker', () => {
  it('is 128 attempts, and another may start when one ends', () => {
    const limit = new InFlightLimit();
    expect(startAll(limit)).toBe(128);
    limit.end(false);
    expect(startAll(limit)).toBe(1);
  });

  it('does not count detached attempts, up to 1,000 attempts in all', () => {
    const limit = new InFlightLimit();
    let started = 0;
    for (let claim = 0; claim < 20; claim += 1) {
      started += startAll(limit);
      limit.detach(limit.inFlight);
    }
    expect(started).toBe(1_000);
    limit.end(true);
    expect(startAll(limit)).toBe(1);
    limit.end(false);
    expect(startAll(limit)).toBe(1);
  });
});
