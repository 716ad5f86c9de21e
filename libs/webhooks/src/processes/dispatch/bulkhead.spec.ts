import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Bulkhead, SLOW_MS } from './bulkhead.js';

const LIMITS = { perProcess: 100, perWorkspace: 1_000, perEndpoint: 5 };
const some = (
  count: number,
  name: string,
  { workspaceId = 'ws_1', livemode = true, isFailing = false } = {},
) =>
  Array.from({ length: count }, (_, n) => ({ workspaceId, livemode, endpointId: `${name}_${n}`, isFailing }));
type Some = ReturnType<typeof some>;
/** Starts as many attempts as are allowed. @returns what ends each */
const fill = (bulkhead: Bulkhead, endpoints: Some): readonly (() => void)[] =>
  endpoints.flatMap((one) => {
    const ends: (() => void)[] = [];
    while (bulkhead.allows(one)) ends.push(bulkhead.start(one));
    return ends;
  });
/** Known to answer at once. */
const prompt = (bulkhead: Bulkhead, count: number): Some => {
  const endpoints = some(count, 'prompt');
  for (const one of endpoints) bulkhead.start(one)();
  return endpoints;
};

describe('The bulkhead of a process', () => {
  beforeEach(() => void jest.useFakeTimers());
  afterEach(() => void jest.useRealTimers());

  it('gives an endpoint one attempt until it knows it, then its limit; and a workspace its own in each mode', () => {
    const bulkhead = new Bulkhead({ ...LIMITS, perWorkspace: 12 });
    const endpoints = some(3, 'new');
    const [end] = fill(bulkhead, endpoints.slice(0, 1));
    expect(bulkhead.at('new_0')).toBe(1);
    end!();
    end!();
    expect(fill(bulkhead, endpoints.slice(0, 1))).toHaveLength(5);
    expect(fill(bulkhead, prompt(bulkhead, 3))).toHaveLength(12 - 5);
    expect(fill(bulkhead, some(1, 'other', { workspaceId: 'ws_2' }))).toHaveLength(1);
    expect(fill(bulkhead, some(1, 'test', { livemode: false }))).toHaveLength(1);
  });

  it('gives endpoints that answer soon half of its slots, and slow ones the other half; each comes back', () => {
    const bulkhead = new Bulkhead(LIMITS);
    const ends = fill(bulkhead, prompt(bulkhead, 40));
    expect(ends).toHaveLength(50);
    const slow = fill(bulkhead, some(40, 'failing', { isFailing: true }));
    expect(slow).toHaveLength(50);
    jest.advanceTimersByTime(SLOW_MS);
    for (const end of [...ends, ...slow]) end();
    expect(bulkhead.free).toEqual({ prompt: 50, slow: 50 });
    expect([bulkhead.at('ws_1 true'), bulkhead.at('prompt_0')]).toEqual([0, 0]);
  });

  it('takes an endpoint for slow while an attempt is, and until one ends within a second, whatever its outcome', () => {
    const bulkhead = new Bulkhead(LIMITS);
    const [endpoint] = prompt(bulkhead, 1) as [Some[0]];
    const [first, ...others] = fill(bulkhead, [endpoint]);
    jest.advanceTimersByTime(SLOW_MS - 1);
    expect(bulkhead.isSlow(endpoint)).toBe(false);
    jest.advanceTimersByTime(1);
    expect(bulkhead.isSlow(endpoint)).toBe(true);
    first!();
    bulkhead.start(endpoint)();
    // Others are still overdue.
    expect(bulkhead.isSlow(endpoint)).toBe(true);
    for (const end of others) end();
    expect(bulkhead.isSlow(endpoint)).toBe(true);
    bulkhead.start(endpoint)();
    expect(bulkhead.isSlow(endpoint)).toBe(false);
  });

  it('has slots for an endpoint that answers a second after hundreds fell silent', () => {
    let told = 0;
    const bulkhead = new Bulkhead(LIMITS, () => (told += 1));
    const silent = some(500, 'silent');
    const healthy = prompt(bulkhead, 1);
    for (let started = 0; started < silent.length; jest.advanceTimersByTime(SLOW_MS)) {
      expect(bulkhead.free.prompt).toBe(50);
      started += fill(bulkhead, silent).length;
      expect(bulkhead.allows(healthy[0]!)).toBe(false);
    }
    // They were moved, beyond the slow pool. Nothing more starts at them.
    expect([told, bulkhead.free.slow]).toEqual([500, 50 - 500]);
    expect(fill(bulkhead, silent)).toEqual([]);
    expect(fill(bulkhead, healthy)).toHaveLength(5);
  });
});
