import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { NOW, book } from '../../../test/credits-decider.js';
import { at } from '../../../test/events.js';
import { corrected, movedBy, type ReversedValue } from './reversed-value.js';
import type { KnownEntries } from './reversals.js';

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
