import { describe, expect, it } from '@jest/globals';
import { Bulkhead, SLOW_MS, isSlow, type KnownEndpoint, type Slot } from '../flow-control.js';

const LIMIT = 5;
const meet = (bulkhead: Bulkhead, count: number, of: string, isFailing = false): readonly KnownEndpoint[] =>
  Array.from({ length: count }, (_, n) => bulkhead.meet(`${of}_${n}`, isFailing));
/** Starts as many attempts as are allowed. */
const fill = (bulkhead: Bulkhead, endpoints: readonly KnownEndpoint[], now: number): readonly Slot[] => {
  const slots: Slot[] = [];
  for (const endpoint of endpoints)
    while (bulkhead.allows(endpoint, LIMIT)) slots.push(bulkhead.start(endpoint, now));
  return slots;
};
/** Known to answer at once. */
const prompt = (bulkhead: Bulkhead, count: number, of = 'prompt'): readonly KnownEndpoint[] => {
  const endpoints = meet(bulkhead, count, of);
  for (const endpoint of endpoints) bulkhead.end(bulkhead.start(endpoint, 0), 0);
  return endpoints;
};

describe('The bulkhead of a process', () => {
  it('gives an endpoint one delivery until it knows it, and then its limit', () => {
    const bulkhead = new Bulkhead(100);
    const [endpoint] = meet(bulkhead, 1, 'new');
    const [first] = fill(bulkhead, [endpoint!], 0);
    expect(endpoint!.inFlight).toBe(1);
    bulkhead.end(first!, SLOW_MS);
    fill(bulkhead, [endpoint!], SLOW_MS);
    expect(endpoint!.inFlight).toBe(LIMIT);
  });

  it('gives endpoints that answer soon half of its slots, and slow ones the other half', () => {
    const bulkhead = new Bulkhead(100);
    expect(fill(bulkhead, prompt(bulkhead, 40), 0)).toHaveLength(50);
    expect(fill(bulkhead, meet(bulkhead, 40, 'failing', true), 0)).toHaveLength(50);
  });

  it('takes an endpoint for slow while an attempt is, and until one ends within a second, whatever its outcome', () => {
    const bulkhead = new Bulkhead(100);
    const [endpoint] = prompt(bulkhead, 1);
    const [first, second, third] = fill(bulkhead, [endpoint!], 0);
    bulkhead.look(SLOW_MS);
    expect(isSlow(endpoint!)).toBe(false);
    bulkhead.look(SLOW_MS + 1);
    expect(isSlow(endpoint!)).toBe(true);
    bulkhead.end(first!, SLOW_MS + 1);
    bulkhead.end(second!, SLOW_MS + 1);
    expect(isSlow(endpoint!)).toBe(true);
    for (const slot of [third!]) bulkhead.end(slot, SLOW_MS + 2);
    expect([endpoint!.inFlight, endpoint!.overdue, bulkhead.inFlight]).toEqual([2, 2, 0]);
    const again = bulkhead.start(endpoint!, SLOW_MS + 3);
    bulkhead.end(again, SLOW_MS + 4);
    // Others are still overdue.
    expect([endpoint!.wasSlow, isSlow(endpoint!)]).toEqual([false, true]);
  });

  it('has slots for an endpoint that answers a second after hundreds fell silent', () => {
    const bulkhead = new Bulkhead(100);
    const silent = meet(bulkhead, 500, 'silent');
    const [healthy] = prompt(bulkhead, 1, 'healthy');
    let [now, started] = [0, 0];
    for (; started < silent.length; now += SLOW_MS + 1) {
      bulkhead.look(now);
      expect(bulkhead.promptFree).toBe(50);
      started += fill(bulkhead, silent, now).length;
      expect(bulkhead.allows(healthy!, LIMIT)).toBe(false);
    }
    bulkhead.look(now);
    // They were moved, beyond the slow pool. Nothing more starts at them.
    expect(bulkhead.slowFree).toBe(50 - 500);
    expect(fill(bulkhead, silent, now)).toEqual([]);
    expect(fill(bulkhead, [healthy!], now)).toHaveLength(LIMIT);
  });

  it('counts every slot back', () => {
    const bulkhead = new Bulkhead(20);
    const slots = [
      ...fill(bulkhead, prompt(bulkhead, 3), 0),
      ...fill(bulkhead, meet(bulkhead, 3, 'failing', true), 0),
    ];
    expect(slots).toHaveLength(20);
    bulkhead.look(SLOW_MS + 1);
    for (const slot of slots) bulkhead.end(slot, 2 * SLOW_MS);
    expect([bulkhead.promptFree, bulkhead.slowFree, bulkhead.inFlight]).toEqual([10, 10, 0]);
  });

  it('forgets the endpoint that it met longest ago', () => {
    const bulkhead = new Bulkhead(20);
    const [first] = prompt(bulkhead, 1);
    meet(bulkhead, 9_999, 'other');
    expect(bulkhead.meet('prompt_0', false)).toBe(first);
    meet(bulkhead, 10_000, 'more');
    expect(bulkhead.meet('prompt_0', false)).not.toBe(first);
  });
});
