import { describe, expect, it } from '@jest/globals';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { linesIn, operatorsIn, verifyExport } from '../../../../tools/verify-ledger.mjs';
import { altered, exportOf, openedBook, rechained, renumbered, type TestBook } from '../../test/book.js';
import { OPERATORS_SETTING } from '../../test/operators.js';
import { BookVerifier } from './verify-book.js';

const forged = (like: StoredEvent, type: string, data: object, id = `forged-${type}`): StoredEvent => ({
  ...like,
  id,
  type,
  data,
});

/** Whether the service, and the auditor's file, find something in a whole book. */
const audits = async (given: readonly StoredEvent[]) => {
  const events = rechained(renumbered(given));
  const service = new BookVerifier(events[0]!.stream, 10_000);
  for (const event of events) service.see(event);
  const operators = operatorsIn(OPERATORS_SETTING);
  const alone = verifyExport(linesIn([Buffer.from(await exportOf(events))]), { operators });
  return { service: service.report().findings.length > 0, alone: !alone.ok };
};

describe('Credits of holds that nobody ordered', () => {
  it.each<[string, Parameters<TestBook['do']>[1], number]>([
    ['a pack, which never expire,', { type: 'PurchasePack', pack: 'burst', orderRef: 'o1' }, 2_000],
    ['a plan, before its end,', { type: 'SubscribeToPlan', plan: 'studio', approvalRef: null }, 400],
  ])('of %s are not released as expired', async (_, bought, amount) => {
    const book = await openedBook();
    await book.do('2026-04-11T09:00:00Z', bought);
    const last = book.events.at(-1)!;
    const own = { reservationId: 'evil', readingId: 'none', amount };
    const { grantId } = { grantId: 'pack:o1:burst', ...(last.data as object) };
    const allocations = [{ grantId, amount }];
    const result = await audits([
      ...book.events,
      forged(last, 'CreditsReserved', { ...own, allocations }),
      forged(last, 'CreditsReleased', {
        ...own,
        allocations: allocations.map((one) => ({ ...one, to: 'expired' })),
        causeEventId: 'none',
      }),
    ]);
    expect(result).toEqual({
      service: true,
      alone: true,
    });
  });
  it('are not released to the grants of another hold', async () => {
    const book = await openedBook();
    await book.do('2026-04-11T09:00:00Z', { type: 'SubscribeToPlan', plan: 'studio', approvalRef: null });
    await book.do('2026-04-11T09:00:00Z', { type: 'PurchasePack', pack: 'burst', orderRef: 'o1' });
    const last = book.events.at(-1)!;
    const hold = (id: string, grantId: string) =>
      forged(
        last,
        'CreditsReserved',
        { reservationId: id, readingId: id, amount: 20, allocations: [{ grantId, amount: 20 }] },
        id,
      );
    const plan = (book.events.find(({ type }) => type === 'PlanGranted')!.data as { grantId: string })
      .grantId;
    const result = await audits([
      ...book.events,
      hold('r1', plan),
      hold('r2', 'pack:o1:burst'),
      forged(last, 'CreditsReleased', {
        reservationId: 'r1',
        readingId: 'r1',
        amount: 20,
        allocations: [{ grantId: 'pack:o1:burst', amount: 20, to: 'available' }],
        causeEventId: 'x',
      }),
    ]);
    expect(result).toEqual({
      service: true,
      alone: true,
    });
  });
});

describe('The allocations of a signed entry, which nobody signs,', () => {
  it.each(['pack', 'gift'])('move no credits of a plan into a %s', async (into) => {
    const book = await openedBook();
    if (into === 'gift') await book.correct('2026-04-10T12:30:00Z', { amount: 500 });
    else await book.do('2026-04-10T13:00:00Z', { type: 'PurchasePack', pack: 'burst', orderRef: 'o1' });
    const { adjustmentId } = book.events.at(-1)!.data as { adjustmentId?: string };
    const lasting = adjustmentId === undefined ? 'pack:o1:burst' : `adjustment:${adjustmentId}`;
    await book.do('2026-04-10T14:00:00Z', {
      type: 'ReserveCredits',
      reservations: [{ reservationId: 'r1', readingId: 'x' }],
      amount: 400,
      all: true,
    });
    await book.do('2026-04-10T14:00:00Z', { type: 'CaptureCredits', reservationId: 'r1', causeEventId: 'e' });
    await book.do('2026-04-11T09:00:00Z', { type: 'SubscribeToPlan', plan: 'studio', approvalRef: null });
    const { grantId } = book.events.find(({ type }) => type === 'PlanGranted')!.data as { grantId: string };
    await book.correct('2026-04-12T09:00:00Z', { amount: -1 });
    const entry = altered(book.events.at(-1)!, {
      allocations: [
        { grantId, amount: -400 },
        { grantId: lasting, amount: 399 },
      ],
    });
    expect(await audits([...book.events.slice(0, -1), entry])).toEqual({ service: true, alone: true });
  });

  it.each([
    ['with credits of another', { 'pack:o1:burst': -1_000, anything: 1_020 }],
    ['and to no other', { 'pack:o1:burst': 20 }],
  ])('give credits to the grant of the entry alone, %s', async (_, given) => {
    const book = await openedBook();
    await book.do('2026-04-10T13:00:00Z', { type: 'PurchasePack', pack: 'burst', orderRef: 'o1' });
    await book.correct('2026-04-12T09:00:00Z', { amount: 20 });
    const allocations = Object.entries(given).map(([grantId, amount]) => ({ grantId, amount }));
    const entry = altered(book.events.at(-1)!, { allocations });
    expect(await audits([...book.events.slice(0, -1), entry])).toEqual({ service: true, alone: true });
  });
});
