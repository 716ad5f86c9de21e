import { beforeEach, describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { linesIn, verifyExport as verifyAlone } from '../../../../tools/verify-ledger.mjs';
import { altered, exportOf, openedBook, rechained, STREAM, WS } from '../../test/book.js';
import { refundedBook } from '../../test/refunded-book.js';
import type { Money } from '../contracts/money.js';
import { statementOf } from './statement.js';
import { BookVerifier } from './verify-book.js';

/** A pack of 200 credits for 9,900 cents, of which 40 are used: a refund takes 160 credits, worth 7,920 cents. */
let events: readonly StoredEvent[];
beforeEach(async () => {
  ({ events } = await refundedBook());
});

const verify = (of = events) => {
  const verifier = new BookVerifier(STREAM, 10_000);
  for (const event of of) verifier.see(event);
  return verifier;
};
const monthsOf = (of = events): (Money | null)[] => {
  const verifier = new BookVerifier(STREAM, 10_000);
  return of.flatMap((event) => {
    verifier.see(event);
    return event.type === 'PeriodClosed' ? [verifier.money.closedMonth] : [];
  });
};
const offline = async (of: readonly StoredEvent[]) => {
  const bytes = [Buffer.from(await exportOf(of))];
  return verifyAlone(linesIn(bytes));
};
const restores = () =>
  events.flatMap(({ data }) => (data as { restores?: { priceCents: number } }).restores ?? []);

describe('a refund of a pack that was undone', () => {
  it('brings back the credits with the value that the refund took, to the cent', () => {
    expect(restores().slice(0, 2)).toEqual([
      { grantIds: ['pack:o1:sprint'], priceCents: 3_465 },
      { grantIds: ['pack:o1:sprint'], priceCents: 4_455 },
    ]);
    expect(verify().report().findings).toEqual([]);
  });

  it('is no income: its value is to be paid back, and is so no longer in the month of the undo', () => {
    const [april, may] = monthsOf();
    const none = { breakage: 0, corrections: 0 };
    expect(april).toMatchObject({ sales: 9_900, earned: 1_980, ...none, refunds: 7_920, closing: 0 });
    // The last 90 credits of the refund came back, and 20 of the first 70 are used.
    expect(may).toMatchObject({ sales: 0, earned: 990, ...none, refunds: -7_920, closing: 6_930 });
  });

  it('has its value in the statement of the month', async () => {
    const stored = async function* () {
      yield* events;
    };
    const { grants, money } = (await statementOf(WS, '2026-05', stored(), 10_000))!;
    expect(money).toMatchObject({ refunds: -7_920 });
    expect(grants.map(({ priceCents }) => priceCents)).toEqual([3_465, 4_455]);
    const june = (await statementOf(WS, '2026-06', stored(), 10_000))!;
    expect(june.grants.map(({ priceCents }) => priceCents)).toEqual([3_465, 4_455, 2_475]);
  });

  it('verifies offline, whole and month by month', async () => {
    expect(await offline(events)).toMatchObject({ ok: true, money: { refunds: 0 } });
    for (const period of ['2026-04', '2026-05', '2026-06']) {
      const bytes = [Buffer.from(await exportOf(events, 'jsonl', { period }))];
      expect(verifyAlone(linesIn(bytes)).findings).toEqual([]);
    }
  });

  /** The book up to the first entry that restores, with other data there and a chain that fits. */
  const forged = (change: object) => {
    const place = events.findIndex(({ data }) => (data as { restores?: object }).restores);
    const other = structuredClone(altered(events[place]!, { ...change }));
    const data = JSON.parse(JSON.stringify(other.data)) as unknown;
    return { place, of: rechained([...events.slice(0, place), { ...other, data }]) };
  };

  it.each([
    ['a cent more', { restores: { grantIds: ['pack:o1:sprint'], priceCents: 3_466 } }],
    ['no value', { restores: { grantIds: ['pack:o1:sprint'], priceCents: 0 } }],
    ['another grant', { restores: { grantIds: ['pack:o2:sprint'], priceCents: 3_465 } }],
    ['a grant more', { restores: { grantIds: ['pack:o1:sprint', 'plan:1'], priceCents: 3_465 } }],
    ['nothing to restore', { restores: undefined }],
    ['that it is a gift', { reversesEventId: null }],
    ['that it was earned', { counts: { as: 'earned', of: 'pack:o1:sprint' } }, 'counts'],
    ['another order', { counts: { as: 'refunds', of: 'pack:o2:sprint' } }, 'counts'],
    ['that it is a correction', { counts: undefined }, 'counts'],
  ])(
    'is a finding of every verifier when it says %s, with a chain that fits',
    async (_, change, member = 'restores') => {
      const { place, of } = forged(change);
      expect(verify(of).report().findings).toMatchObject([{ revision: BigInt(place), check: 'invariant' }]);
      const { findings } = await offline(of);
      expect(findings[0]).toMatchObject({ field: `facts.data.${member}`, revision: String(place) });
    },
  );

  it('may be taken back and given again, with the same value', () => {
    expect(restores()[2]).toEqual({ grantIds: [expect.stringMatching(/^adjustment:/)], priceCents: 2_475 });
  });
});

describe('a refunded reading', () => {
  /** 10 credits of a gift and a pack pay for the reading: 10 without value, and 10 of 50 for 2,900 cents. */
  const refunded = async (...amounts: readonly number[]) => {
    const book = await openedBook();
    await book.correct('2026-04-10T13:00:00Z', { amount: 10, expiresAt: '2026-05-01T00:00:00.000Z' });
    await book.do('2026-04-11T09:00:00Z', { type: 'PurchasePack', pack: 'flex', orderRef: 'o1' });
    const hold = { reservationId: 'r1', readingId: 'reading-r1', amount: 20 };
    await book.do('2026-04-12T09:00:00Z', { type: 'ReserveCredits', ...hold });
    await book.do('2026-04-12T09:00:01Z', {
      type: 'CaptureCredits',
      reservationId: 'r1',
      causeEventId: 'e1',
    });
    const capture = book.events.at(-1)!.id;
    for (const amount of amounts)
      await book.correct('2026-06-02T09:00:00Z', { amount, reversesEventId: capture });
    await book.do('2026-07-01T09:00:00Z', { type: 'RecordDue' });
    ({ events } = book);
    return capture;
  };

  it('was not earned: its revenue is deferred again, in the month of the refund, whatever paid for it', async () => {
    const capture = await refunded(13, 7);
    expect(monthsOf()).toMatchObject([
      { earned: 580, closing: 2_320 },
      { earned: 0, closing: 2_320 },
      { earned: -580, breakage: 0, corrections: 0, refunds: 0, closing: 2_900 },
    ]);
    const counts = { as: 'earned', of: capture };
    expect(events.filter(({ type }) => type === 'CreditsAdjusted').slice(1)).toMatchObject([
      { data: { restores: { priceCents: 377 }, counts } },
      { data: { restores: { priceCents: 203 }, counts } },
    ]);
    expect(verify().report().findings).toEqual([]);
    expect(await offline(events)).toMatchObject({ ok: true, money: { earned: 0, closing: 2_900 } });
  });

  it('is earned again when credits are taken for it, at the value of these', async () => {
    await refunded(20, -20, 20);
    expect(monthsOf()[2]).toMatchObject({ earned: -580, corrections: 0, closing: 2_900 });
    expect(await offline(events)).toMatchObject({ ok: true, money: { earned: 0 } });
  });
});
