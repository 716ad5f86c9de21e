import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { NOW, book } from '../../../test/credits-decider.js';
import { at } from '../../../test/events.js';
import { restored, type PackRefund } from './pack-refunds.js';
import type { KnownEntries } from './reversals.js';

const REFUND: PackRefund = { grantIds: ['pack:o1:sprint'], credits: 160, cents: 7_920 };

describe('the reversal of a refund', () => {
  it('restores the value of the refund to the cent, in however many parts', () => {
    const refund = fc.record({ credits: fc.nat(1_000).map((n) => n + 1), cents: fc.nat(100_000) });
    fc.assert(
      fc.property(refund, fc.array(fc.nat(300), { maxLength: 8 }), (of, parts) => {
        let [reversed, cents] = [0, 0];
        for (const part of [...parts, of.credits]) {
          const amount = Math.min(part, of.credits - reversed);
          const { priceCents } = restored({ grantIds: ['pack:1'], ...of }, reversed, amount);
          expect(priceCents).toBeGreaterThanOrEqual(0);
          [reversed, cents] = [reversed + amount, cents + priceCents];
        }
        expect(cents).toBe(of.cents);
      }),
    );
  });

  it('says what it restores, entry by entry of one correction', () => {
    const known: KnownEntries = {
      corrections: 0,
      originals: { refund: { reversible: 160, reversed: 10, grantId: null, refund: REFUND } },
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
      },
    });
    book()
      .when({ type: 'BookCorrection', ...signed, entries, known, once: false, now: at(NOW) })
      .then(booked(70, 3_465), booked(80, 3_960));
  });
});
