import { beforeEach, describe, expect, it } from '@jest/globals';
import { decode } from '@app/event-sourcing/core/event-catalogue.js';
import { InMemoryEventStore } from '@app/event-sourcing/testing/in-memory-event-store.js';
import { WS, billingProcess } from '../../test/billing-process.js';
import { STREAM } from '../../test/book.js';
import { CorrectionBooks } from '../application/corrections/correction-books.js';
import { CreditBooks } from '../application/credit-books.js';
import { creditsEvents } from '../contracts/index.js';
import { createCreditsExecutor } from '../credits.executor.js';
import { planDateRepair } from './plan-date-repair.js';
import { statementOf } from './statement.js';
import { BookVerifier } from './verify-book.js';

const DAY_MS = 86_400_000;

/** The true time, which is the store's. */
let now: number;
let store: InMemoryEventStore;
const processOff = (ms: number) => billingProcess(store, { now: () => now + ms });

/** A book whose plan of 400 credits runs from the 10th; on the 22nd, a worker 40 days ahead looked at it. */
beforeEach(async () => {
  now = Date.parse('2026-11-10T08:00:00.000Z');
  store = new InMemoryEventStore(() => now);
  const right = processOff(0);
  await right.open();
  await right.subscribe('studio');
  await right.purchase('flex', 'o1');
  await right.reserve('r1');
  now = Date.parse('2026-11-22T12:00:00.000Z');
  await processOff(40 * DAY_MS).due();
});

/** Of the book alone: a pack has a line of its order as well. */
const log = () => store.log.filter(({ stream }) => stream === STREAM);
const events = () => log().map((stored) => decode(creditsEvents, stored));
const plan = () => planDateRepair(WS, events(), now, 10_000);
const findings = () => {
  const verifier = new BookVerifier(STREAM, 10_000);
  for (const event of log()) verifier.see(event);
  return verifier.report();
};
/** Books what is due, as a correction that two operators signed. */
const repair = async () => {
  const books = new CorrectionBooks(
    new CreditBooks(createCreditsExecutor(store, 10_000), { now: () => now }),
    store,
  );
  const due = plan().adjustments.filter(
    ({ notBefore }) => notBefore === null || Date.parse(notBefore) <= now,
  );
  const entries = due.map(({ cause: reason, notBefore: _, ...entry }) => ({
    ...entry,
    reason,
    adjustmentId: `${correctionId}:${entry.reference}`,
  }));
  const asked = { type: 'BookCorrection', correctionId, entries, once: false } as const;
  const by = { actor: 'operator:ada', correlationId: 'repair', causationId: 'repair' };
  const signed = { ...asked, approvedBy: 'grace', actor: 'operator:ada' };
  const refusal = await books.book(WS, signed, () => Promise.resolve(true), by);
  expect(refusal).toBeNull();
};
const correctionId = 'c1';

describe('a book that a worker 40 days ahead has changed', () => {
  it('has dates that the store’s record time contradicts: verification names each', () => {
    expect(
      log()
        .slice(5)
        .map(({ type }) => type),
    ).toEqual(['PeriodClosed', 'GrantExpired', 'PlanGranted', 'PeriodClosed']);
    expect(findings().findings.map(({ revision, check, message }) => [revision, check, message])).toEqual(
      [5n, 6n, 7n, 8n].map((revision) => [
        revision,
        'clock',
        'dated 2027-01-01T12:00:00.000Z, but the store recorded it at 2026-11-22T12:00:00.000Z',
      ]),
    );
  });

  it('takes further entries with their true dates, in the open month', async () => {
    const right = processOff(0);
    now += 60_000;
    await right.purchase('sprint', 'o2');
    expect(store.log.at(-1)).toMatchObject({
      type: 'PackPurchased',
      metadata: { occurredAt: '2026-11-22T12:01:00.000Z' },
    });
    expect(findings().findings.filter(({ check }) => check !== 'clock')).toEqual([]);
  });

  it('says in the statement of each month how its entries are dated', async () => {
    now += 60_000;
    await processOff(0).purchase('sprint', 'o2');
    const notes = async (period: string) =>
      (await statementOf(WS, period, store.read(STREAM), 10_000))?.notes;
    expect(await notes('2026-11')).toEqual([
      expect.stringMatching(/^1 entries have dates after/),
      'the month was closed at 2026-11-22T12:00:00.000Z, before its end: later entries are in the next open month',
    ]);
    expect(await notes('2027-01')).toEqual([
      '1 entries are of an earlier month, which was closed too early; their dates are true',
    ]);
  });

  it('gets its credits back with their expiry, and gives back the month that has not begun', async () => {
    expect(plan()).toMatchObject({
      misdated: 4,
      adjustments: [
        {
          reversesEventId: log()[6]!.id,
          amount: 380,
          expiresAt: '2026-12-10T00:00:00.000Z',
          notBefore: null,
        },
        { amount: -400, grantId: 'plan:sub1:2026-12', expiresAt: null, notBefore: null },
        { amount: 400, expiresAt: '2027-01-10T00:00:00.000Z', notBefore: '2026-12-10T00:00:00.000Z' },
      ],
      notes: [expect.stringMatching(/^closed before their end.*2026-11 .*2026-12 .*open month, 2027-01/)],
    });
    const right = processOff(0);
    expect(await right.balance()).toMatchObject({ available: 450, expired: 380, granted: 850 });
    await repair();
    // 380 of the plan's month and 50 of the pack, as before; 20 are held.
    expect(await right.balance()).toMatchObject({ available: 430, held: 20, adjusted: -20 });
    expect(findings()).toMatchObject({ findings: [], repairedDates: 4 });
    expect(plan().adjustments).toMatchObject([{ amount: 400 }]);
    await repair();
    expect(await right.balance()).toMatchObject({ available: 430 });
  });

  it('has the next month when it begins: the old credits expire and the taken ones return', async () => {
    await repair();
    now = Date.parse('2026-12-10T00:00:01.000Z');
    const right = processOff(0);
    await right.due();
    expect(await right.balance()).toMatchObject({ available: 50, expired: 760 });
    await repair();
    expect(await right.balance()).toMatchObject({ available: 450, held: 20 });
    expect(plan()).toMatchObject({ adjustments: [] });
    now = Date.parse('2027-01-10T00:00:01.000Z');
    await right.due();
    // The subscription goes on by itself: 400 have expired, 400 are new.
    expect(await right.balance()).toMatchObject({ available: 450 });
    expect(findings().findings).toEqual([]);
  });

  it('gets no credits back that would have expired since, and says so', () => {
    now = Date.parse('2026-12-11T00:00:00.000Z');
    expect(plan()).toMatchObject({
      adjustments: [],
      notes: [expect.anything(), expect.stringMatching(/^380 credits .* do not come back by themselves$/)],
    });
  });

  it('gets back what a release let expire too early', async () => {
    now += 60_000;
    await processOff(40 * DAY_MS).settle('r1', 'release');
    expect(plan().adjustments).toContainEqual(
      expect.objectContaining({ amount: 20, expiresAt: '2026-12-10T00:00:00.000Z', notBefore: null }),
    );
  });
});

it('A book with true dates needs nothing', async () => {
  store = new InMemoryEventStore(() => now);
  const right = processOff(3_000);
  await right.open();
  await right.subscribe('studio');
  now = Date.parse('2027-03-01T00:00:00.000Z');
  await right.due();
  expect(plan()).toEqual({ workspaceId: WS, misdated: 0, adjustments: [], notes: [] });
  expect(findings().findings).toEqual([]);
});
