import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { worth, Reversals, usedBy } from './value.js';
import { evolve, noBook } from './credits.state.js';
import { APRIL, NOW, book, adjusted, studio } from '../../test/credits-decider.js';
import { at, captured, expired, packPurchased, released, reserved } from '../../test/events.js';
import type { CreditsEvent } from '../contracts/events.js';
import type { CreditsCommand, EntryToBook } from './credits.decider.js';

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

describe('reversals', () => {
  const flex = packPurchased('flex', 'o1');
  /** A correction that is booked, and names the entry before it (`e0`, `e1`, …). */
  const naming = (id: string, entry: string, amount: number): CreditsEvent => {
    const event = adjusted(id, amount, [amount > 0 ? `adjustment:${id}` : 'pack:o1:flex', amount]);
    return { ...event, data: { ...event.data, reversesEventId: entry } } as CreditsEvent;
  };
  /** What a book with these entries lets corrections reverse. */
  const knownIn = (history: readonly CreditsEvent[]): Reversals => {
    const known = new Reversals();
    let state = noBook;
    history.forEach((event, index) => {
      known.see({ ...event, id: `e${index}` }, usedBy(event, state));
      state = evolve(state, event);
    });
    return known;
  };
  const entry = (amount: number, more: Partial<EntryToBook> = {}): EntryToBook => ({
    adjustmentId: `a${amount}`,
    amount,
    reason: 'granted twice',
    reversesEventId: 'e0',
    reference: 'INC-42',
    expiresAt: null,
    grantId: null,
    ...more,
  });
  const signed = { correctionId: 'c1', approvedBy: 'grace', actor: 'operator:ada' };
  const correct = (known: Reversals, ...entries: readonly EntryToBook[]): CreditsCommand => ({
    type: 'BookCorrection',
    ...signed,
    entries,
    known,
    now: at(NOW),
  });
  const after = (...history: readonly CreditsEvent[]) => ({
    correct: (...entries: readonly EntryToBook[]) =>
      book(...history).when(correct(knownIn(history), ...entries)),
  });

  it('take or give at most what the entry moved, together with those before and beside them', () => {
    const refused = { eventId: 'e0', original: -50, reversed: 0 };
    after(flex).correct(entry(-51)).thenRejects('ReversalExceeded', refused);
    after(flex, naming('a1', 'e0', -50))
      .correct(entry(-1))
      .thenRejects('ReversalExceeded');
    const beside = { ...refused, reversed: -30 };
    after(flex, ...studio)
      .correct(entry(-30), entry(-21))
      .thenRejects('ReversalExceeded', beside);
    after(flex).correct(entry(1)).thenRejects('ReversalExceeded');
    after(flex).correct(entry(-30), entry(30)).thenTypes('CreditsAdjusted', 'CreditsAdjusted');
    after(flex)
      .correct(entry(-50, { reversesEventId: 'e9' }))
      .thenRejects('NothingToReverse');
  });

  it('take from the grant that they name, and never what is used or held', () => {
    after(flex, ...studio, reserved('r1', [APRIL, 20]), reserved('r2', ['pack:o1:flex', 20]))
      .correct(entry(-50, { grantId: 'pack:o1:flex' }))
      .thenRejects('InsufficientCredits', { required: 50, available: 30 });
  });

  it('say what they restore, entry by entry of one correction', () => {
    const restoring = (amount: number, priceCents: number): CreditsEvent => {
      const { expiresAt: _, grantId: __, ...data } = entry(amount, { reversesEventId: 'e1' });
      const allocations = [{ grantId: `adjustment:a${amount}`, amount }];
      const restores = { grantIds: ['pack:o1:flex'], priceCents };
      return { type: 'CreditsAdjusted', data: { ...data, ...signed, allocations, restores } };
    };
    after(flex, naming('a1', 'e0', -50))
      .correct(entry(30, { reversesEventId: 'e1' }), entry(20, { reversesEventId: 'e1' }))
      .then(restoring(30, 1_740), restoring(20, 1_160));
  });

  it('are booked as a whole or not at all, once, and decided again when another correction came first', () => {
    const two = [entry(5, { reversesEventId: null }), entry(-80, { reversesEventId: null })];
    after(flex)
      .correct(...two)
      .thenRejects('InsufficientCredits');
    after(flex, adjusted('a5', 5, ['adjustment:a5', 5]))
      .correct(two[0]!)
      .thenIgnores('AlreadyBooked');
    book(flex, adjusted('a1', 5, ['adjustment:a1', 5]))
      .when(correct(knownIn([flex]), entry(-50)))
      .thenRejects('BookChanged');
  });

  it.each<[string, readonly CreditsEvent[], number]>([
    ['a month of a plan', [studio[1]], -400],
    ['a capture', [flex, reserved('r1', ['pack:o1:flex', 20]), captured('r1')], 20],
    ['an expiry', [expired('g', 30, NOW)], 30],
    ['a release of which a part expired', [released('r1', ['g', 15, 'expired'], ['h', 5, 'available'])], 15],
    ['a correction', [adjusted('a1', -7, ['g', -7])], 7],
    ['a hold', [reserved('r1', ['g', 20])], 0],
  ])('may undo of %s what it moved', (_, history, reversible) => {
    expect(knownIn(history).of(`e${history.length - 1}`)).toEqual({ reversible, reversed: 0 });
  });
});
