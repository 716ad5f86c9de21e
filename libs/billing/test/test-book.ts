import { TEST_CREDITS, type TestBookEventOf, type TestHold } from '../src/contracts/test-book.js';
import type { TestBookCommand } from '../src/domain/test-book/test-book.commands.js';

export const TODAY = '2026-04-10';
/** When commands are given, unless a case says otherwise. */
export const NOON = Date.parse(`${TODAY}T12:00:00.000Z`);

export const hold = (reservationId: string, amount = 20): TestHold => ({
  reservationId,
  readingId: `reading of ${reservationId}`,
  amount,
});

/** A fill of today that leaves a full book without reservations. */
export const filled = (
  data: Partial<TestBookEventOf<'TestBookFilled'>['data']> = {},
): TestBookEventOf<'TestBookFilled'> => ({
  type: 'TestBookFilled',
  data: {
    workspaceId: 'ws_1',
    day: TODAY,
    amount: 0,
    available: TEST_CREDITS,
    consumed: 0,
    openHolds: [],
    settled: { older: [], newer: [] },
    ...data,
  },
});

export const testReserved = (reservationId: string, amount = 20): TestBookEventOf<'TestCreditsReserved'> => ({
  type: 'TestCreditsReserved',
  data: hold(reservationId, amount),
});

const settled = (reservationId: string) => ({
  ...hold(reservationId),
  causeEventId: `end of ${reservationId}`,
});

export const testCaptured = (reservationId: string): TestBookEventOf<'TestCreditsCaptured'> => ({
  type: 'TestCreditsCaptured',
  data: settled(reservationId),
});

export const testReleased = (reservationId: string): TestBookEventOf<'TestCreditsReleased'> => ({
  type: 'TestCreditsReleased',
  data: settled(reservationId),
});

export const reserve = (reservationId: string, amount = 20, now = NOON): TestBookCommand => ({
  type: 'ReserveCredits',
  workspaceId: 'ws_1',
  ...hold(reservationId, amount),
  now,
});

export const capture = (reservationId: string): TestBookCommand => ({
  type: 'CaptureCredits',
  reservationId,
  causeEventId: `end of ${reservationId}`,
});

export const release = (reservationId: string): TestBookCommand => ({
  type: 'ReleaseCredits',
  reservationId,
  causeEventId: `end of ${reservationId}`,
});
