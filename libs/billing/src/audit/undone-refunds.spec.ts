import { beforeEach, describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '@app/event-sourcing/core/event.js';
import { linesIn, verifyExport as verifyAlone } from '../../../../tools/verify-ledger.mjs';
import { altered, exportOf, rechained, STREAM, WS } from '../../test/book.js';
import { refundedBook } from '../../test/refunded-book.js';
import type { Money } from '../contracts/money.js';
import { statementOf } from './statement.js';
import { BookVerifier } from './verify-book.js';
import { verifyExport } from './verify-export.js';

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
const bothOffline = async (of: readonly StoredEvent[]) => {
  const bytes = [Buffer.from(await exportOf(of))];
  const [alone, own] = [verifyAlone(linesIn(bytes)), await verifyExport(bytes)];
  expect(own.findings[0]?.line).toBe(alone.findings[0]?.line);
  return alone;
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

  it('leaves the corrections of its month, which may be below zero', () => {
    const [april, may] = monthsOf();
    expect(april).toMatchObject({ sales: 9_900, earned: 1_980, corrections: 7_920, closing: 0 });
    // The last 90 credits of the refund came back, and 20 of the first 70 are used.
    expect(may).toMatchObject({ opening: 0, sales: 0, earned: 990, corrections: -7_920, closing: 6_930 });
  });

  it('has its value in the statement of the month', async () => {
    const stored = async function* () {
      yield* events;
    };
    const { grants, money } = (await statementOf(WS, '2026-05', stored(), 10_000))!;
    expect(money).toMatchObject({ corrections: -7_920 });
    expect(grants.map(({ priceCents }) => priceCents)).toEqual([3_465, 4_455]);
    const june = (await statementOf(WS, '2026-06', stored(), 10_000))!;
    expect(june.grants.map(({ priceCents }) => priceCents)).toEqual([3_465, 4_455, 2_475]);
  });

  it('verifies offline, whole and month by month', async () => {
    expect(await bothOffline(events)).toMatchObject({ ok: true, money: { corrections: 0 } });
    for (const period of ['2026-04', '2026-05', '2026-06']) {
      const bytes = [Buffer.from(await exportOf(events, 'jsonl', { period }))];
      expect(verifyAlone(linesIn(bytes)).findings).toEqual([]);
      expect((await verifyExport(bytes)).findings).toEqual([]);
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
  ])('is a finding of every verifier when it says %s, with a chain that fits', async (_, change) => {
    const { place, of } = forged(change);
    expect(verify(of).report().findings).toMatchObject([{ revision: BigInt(place), check: 'invariant' }]);
    const { findings } = await bothOffline(of);
    expect(findings[0]).toMatchObject({ field: 'facts.data.restores', revision: String(place) });
  });

  it('of an older version is a gift without value, and says nothing of what it restores', async () => {
    const older = ({ of, place }: ReturnType<typeof forged>) => {
      const event = of[place]!;
      const metadata = { ...event.metadata, schemaVersion: 3 };
      return rechained(of.with(place, { ...event, metadata }));
    };
    const gift = older(forged({ restores: undefined }));
    expect(verify(gift).report().findings).toEqual([]);
    expect(await bothOffline(gift)).toMatchObject({ ok: true, money: { corrections: 7_920, closing: 0 } });
    const impossible = older(forged({}));
    expect(verify(impossible).report().findings).toMatchObject([{ check: 'invariant' }]);
    expect((await bothOffline(impossible)).ok).toBe(false);
  });

  it('may be taken back and given again, with the same value', () => {
    expect(restores()[2]).toEqual({ grantIds: [expect.stringMatching(/^adjustment:/)], priceCents: 2_475 });
  });
});
