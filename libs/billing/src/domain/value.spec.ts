import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  worth,
  corrected,
  movedBy,
  type ReversedValue,
  type KnownEntries,
  learn,
  nothingKnown,
  type Original,
} from './value.js';
import { NOW, book, adjusted, studio } from '../../test/credits-decider.js';
import { at, captured, expired, packPurchased, released, reserved } from '../../test/events.js';
import type { CreditsEvent } from '../contracts/events.js';
import type { CreditsCommand, EntryToBook } from './credits.commands.js';

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

describe('reversed value', () => {
  /** A refund of 160 credits of a pack, worth 7,920 cents. */
  const REFUND: ReversedValue = {
    holder: 'refund',
    took: { grantIds: ['pack:o1:sprint'], credits: 160, cents: 7_920 },
    gave: { credits: 10, cents: 495 },
    counts: { as: 'refunds', of: 'pack:o1:sprint' },
    grantId: null,
  };

  describe('the reversal of an entry that took credits', () => {
    it('restores their value to the cent, in however many parts, also when a part was taken again', () => {
      const taken = fc.record({ credits: fc.nat(1_000).map((n) => n + 1), cents: fc.nat(100_000) });
      const part = fc.record({ credits: fc.integer({ min: -300, max: 300 }), cents: fc.nat(9_000) });
      fc.assert(
        fc.property(taken, fc.array(part, { maxLength: 8 }), (first, parts) => {
          const { counts } = REFUND;
          let of: ReversedValue = {
            ...REFUND,
            took: { ...REFUND.took, ...first },
            gave: { credits: 0, cents: 0 },
          };
          let [left, cents] = [first.credits, first.cents];
          const rest = { credits: Infinity, cents: 0 };
          for (const one of [...parts, rest]) {
            const amount = Math.max(Math.min(one.credits, left), left - of.took.credits);
            if (amount === 0) continue;
            const data = { amount, allocations: [{ grantId: 'g', amount }] };
            const moved = movedBy(of, data);
            expect(moved.counts).toEqual(counts);
            const used = [{ use: 'refunds' as const, grantId: 'g', credits: -amount, cents: one.cents }];
            of = corrected(of, { amount, counts: counts! }, amount < 0 ? used : []);
            left -= amount;
            cents += amount < 0 ? one.cents : -moved.restores!.priceCents;
            expect(cents).toBeGreaterThanOrEqual(0);
          }
          expect([left, cents]).toEqual([0, 0]);
        }),
      );
    });

    it('says what it restores, entry by entry of one correction', () => {
      const known: KnownEntries = {
        corrections: 0,
        originals: { refund: { reversible: 160, reversed: 10, grantId: null, value: REFUND } },
      };
      const entry = { reason: 'kept', reversesEventId: 'refund', reference: 'INC-42' };
      const entries = [70, 80].map((amount) => ({
        ...entry,
        adjustmentId: `a${amount}`,
        amount,
        expiresAt: null,
        grantId: null,
      }));
      const signed = { correctionId: 'c1', approvedBy: 'grace', actor: 'operator:ada' };
      const booked = (amount: number, priceCents: number) => ({
        type: 'CreditsAdjusted' as const,
        data: {
          ...entry,
          ...signed,
          adjustmentId: `a${amount}`,
          amount,
          allocations: [{ grantId: `adjustment:a${amount}`, amount }],
          restores: { grantIds: ['pack:o1:sprint'], priceCents },
          counts: { as: 'refunds' as const, of: 'pack:o1:sprint' },
        },
      });
      book()
        .when({ type: 'BookCorrection', ...signed, entries, known, once: false, now: at(NOW) })
        .then(booked(70, 3_465), booked(80, 3_960));
    });
  });
});

describe('reversals', () => {
  const PACK: Original = { reversible: -50, reversed: 0, grantId: 'pack:o1:flex' };
  const knowing = (original: Original, corrections = 0): KnownEntries => ({
    corrections,
    originals: { e1: original },
  });
  const entry = (amount: number, more: Partial<EntryToBook> = {}): EntryToBook => ({
    adjustmentId: `a${amount}`,
    amount,
    reason: 'granted twice',
    reversesEventId: 'e1',
    reference: 'INC-42',
    expiresAt: null,
    grantId: null,
    ...more,
  });
  const correct = (known: KnownEntries, entries: readonly EntryToBook[], once = false): CreditsCommand => ({
    type: 'BookCorrection',
    correctionId: 'c1',
    approvedBy: 'grace',
    actor: 'operator:ada',
    entries,
    known,
    once,
    now: at(NOW),
  });
  const flex = packPurchased('flex', 'o1');

  describe('a reversal', () => {
    it('takes or gives at most what the entry moved, together with those before and beside it', () => {
      const refused = { eventId: 'e1', original: -50, reversed: 0 };
      book(flex)
        .when(correct(knowing(PACK), [entry(-51)]))
        .thenRejects('ReversalExceeded', refused);
      book(flex)
        .when(correct(knowing({ ...PACK, reversed: -50 }), [entry(-1)]))
        .thenRejects('ReversalExceeded');
      book(flex, ...studio)
        .when(correct(knowing(PACK), [entry(-30), entry(-21)]))
        .thenRejects('ReversalExceeded', { ...refused, reversed: -30 });
      book(flex)
        .when(correct(knowing(PACK), [entry(1)]))
        .thenRejects('ReversalExceeded');
      book(flex)
        .when(correct(knowing(PACK), [entry(-30), entry(30)]))
        .thenTypes('CreditsAdjusted', 'CreditsAdjusted');
    });

    it('of a pack’s refund happens once, even when a part is left', () => {
      book(flex)
        .when(correct(knowing({ ...PACK, reversed: -10 }), [entry(-10)], true))
        .thenRejects('ReversalExceeded');
    });

    it('takes from the grant that it names, and never what is used or held', () => {
      book(...studio, flex, reserved('r1', ['pack:o1:flex', 20]))
        .when(correct(knowing(PACK), [entry(-50, { grantId: 'pack:o1:flex' })]))
        .thenRejects('InsufficientCredits', { required: 50, available: 30 });
    });

    it('is refused of an entry that the book does not have', () => {
      book(flex)
        .when(correct(nothingKnown, [entry(-50)]))
        .thenRejects('NothingToReverse', { eventId: 'e1' });
    });
  });

  describe('a correction', () => {
    it('is booked as a whole or not at all, and once', () => {
      const two = [entry(5, { reversesEventId: null }), entry(-80, { reversesEventId: null })];
      book(flex).when(correct(nothingKnown, two)).thenRejects('InsufficientCredits');
      book(flex, adjusted('a5', 5, ['adjustment:a5', 5]))
        .when(correct(nothingKnown, [two[0]!]))
        .thenIgnores('AlreadyBooked');
    });

    it('is decided again when another one came first', () => {
      book(flex, adjusted('a1', 5, ['adjustment:a1', 5]))
        .when(correct(knowing(PACK), [entry(-50)]))
        .thenRejects('BookChanged');
    });
  });

  describe('what a book knows of an entry', () => {
    const known = (events: readonly CreditsEvent[]) =>
      events.reduce(
        (so, event, index) => learn(so, { ...event, id: `e${index}` }, new Set(['e0'])),
        nothingKnown,
      ).originals['e0'];

    it.each<[string, CreditsEvent, number]>([
      ['a pack', flex, -50],
      ['a month of a plan', studio[1], -400],
      ['a capture', captured('r1'), 20],
      ['an expiry', expired('g', 30, NOW), 30],
      ['a release of which a part expired', released('r1', ['g', 15, 'expired'], ['h', 5, 'available']), 15],
      ['a correction', adjusted('a1', -7, ['g', -7]), 7],
      ['a hold', reserved('r1', ['g', 20]), 0],
    ])('is what %s allows to reverse', (_, event, reversible) => {
      expect(known([event])).toMatchObject({ reversible, reversed: 0 });
    });

    it('counts the corrections that name it', () => {
      const named = (id: string, amount: number): CreditsEvent => {
        const event = adjusted(id, amount, ['pack:o1:flex', amount]);
        return { ...event, data: { ...event.data, reversesEventId: 'e0' } } as CreditsEvent;
      };
      expect(known([flex, named('a1', -30), named('a2', 10)])).toMatchObject({ reversed: -20 });
    });
  });
});
