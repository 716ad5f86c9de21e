import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { worth } from './value.js';

const grant = fc.record({
  credits: fc.integer({ min: 1, max: 1_000_000_000 }),
  price: fc.integer({ min: 0, max: 10_000_000_000 }),
});

describe('the value of credits', () => {
  it('spreads the cents left over evenly: 400 credits of 149.00 are worth 37 or 38 cents each', () => {
    const each = Array.from({ length: 400 }, (_, n) => worth(400, 14_900, n + 1) - worth(400, 14_900, n));
    expect(new Set(each)).toEqual(new Set([37, 38]));
    expect(each.filter((cents) => cents === 38)).toHaveLength(14_900 % 400);
    expect(each.slice(0, 8)).toEqual([37, 37, 37, 38, 37, 37, 37, 38]);
  });

  it('sums to the price exactly, however a grant is used up', () => {
    const uses = fc.array(fc.integer({ min: 1, max: 500_000_000 }), { maxLength: 20 });
    fc.assert(
      fc.property(grant, uses, ({ credits, price }, parts) => {
        let [used, cents] = [0, 0];
        for (const part of [...parts, credits]) {
          const next = Math.min(credits, used + part);
          const value = worth(credits, price, next) - worth(credits, price, used);
          expect(value).toBeGreaterThanOrEqual(0);
          // Never off by a whole cent.
          expect(Math.abs(value - (price * (next - used)) / credits)).toBeLessThan(1 + 1e-5);
          [used, cents] = [next, cents + value];
        }
        expect(cents).toBe(price);
      }),
    );
  });
});
