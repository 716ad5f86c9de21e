import { describe, expect, it } from '@jest/globals';
import { Places } from './in-flight-limit.js';

const takeAll = (places: Places): number => {
  let taken = 0;
  for (; places.free > 0; taken += 1) places.take();
  return taken;
};

describe('The places of a worker', () => {
  it('are 128, each free again when its attempt ends', () => {
    const places = new Places();
    expect(takeAll(places)).toBe(128);
    places.leave(false);
    expect(takeAll(places)).toBe(1);
  });

  it('are left to others by attempts that outlast their turn, up to 1,000 attempts in all', () => {
    const places = new Places();
    let taken = 0;
    for (let turn = 0; turn < 20; turn += 1) {
      taken += takeAll(places);
      places.outlast(places.taken);
    }
    expect(taken).toBe(1_000);
    places.leave(true);
    expect(takeAll(places)).toBe(1);
    places.leave(false);
    expect(takeAll(places)).toBe(1);
  });
});
