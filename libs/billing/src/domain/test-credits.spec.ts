import { describe, expect, it } from '@jest/globals';
import { fold } from '#event-sourcing/core/decider.js';
import { given } from '#event-sourcing/testing/decider-spec.js';
import { at, bookOpened, captured, released, reserved } from '../../test/events.js';
import { capture, NOW, release, reserve } from '../../test/credits-decider.js';
import type { CreditsEvent } from '../contracts/events.js';
import { balanceOf } from './postings.js';
import type { CreditsCommand } from './credits.decider.js';
import { filledAt, TEST_CREDITS, testCredits } from './test-credits.js';

const TODAY = '2026-04-10';
const TOMORROW = '2026-04-11';
const book = (...events: readonly CreditsEvent[]) => given(testCredits, [bookOpened(), ...events]);

/** The n-th fill of a book, on a day. */
const filled = (amount: number, day = TODAY, n = 1): CreditsEvent => ({
  type: 'CreditsAdjusted',
  data: {
    adjustmentId: `test:${n}:${day}`,
    amount,
    allocations: amount === 0 ? [] : [{ grantId: `adjustment:test:${n}:${day}`, amount }],
    reason: 'test credits of the day',
    approvedBy: 'billing.test-credits',
    reversesEventId: null,
    reference: day,
    actor: 'system:billing.test-credits',
  },
});
const FIRST = `adjustment:test:1:${TODAY}`;
const opened = filled(TEST_CREDITS);
const many = (ids: readonly string[], all: boolean): CreditsCommand => ({
  type: 'ReserveCredits',
  reservations: ids.map((id) => ({ reservationId: id, readingId: `reading of ${id}` })),
  amount: 20,
  all,
  now: at(NOW),
});

describe('a test book', () => {
  it('is filled with 10,000 credits by its first reservation', () => {
    expect(TEST_CREDITS).toBe(10_000);
    book()
      .when(reserve('r1'))
      .then(opened, reserved('r1', [FIRST, 20]));
    book()
      .when(many(['r1', 'r2'], true))
      .then(opened, reserved('r1', [FIRST, 20]), reserved('r2', [FIRST, 20]));
  });

  it('is not filled by a settlement', () => {
    book().when(capture('r1')).thenIgnores('UnknownReservation');
    book(opened, reserved('r1', [FIRST, 20]))
      .when(release('r1', `${TOMORROW}T12:00:00.000Z`))
      .then(released('r1', [FIRST, 20, 'available']));
  });

  it('is filled up by the first reservation of the next UTC day, and not before midnight', () => {
    const used = [opened, reserved('r1', [FIRST, 20]), captured('r1'), reserved('r2', [FIRST, 20])];
    const midnight = `${TOMORROW}T00:00:00.000Z`;
    book(...used)
      .when(reserve('r3', 20, midnight))
      .then(filled(20, TOMORROW, 2), reserved('r3', [FIRST, 20]));
    book(...used)
      .when(reserve('r3', 20, `${TODAY}T23:59:59.999Z`))
      .thenTypes('CreditsReserved');
  });

  it('is filled on a day on which nothing is missing, so that the day has its fill', () => {
    book(opened)
      .when(reserve('r1', 20, `${TOMORROW}T12:00:00.000Z`))
      .then(filled(0, TOMORROW, 2), reserved('r1', [FIRST, 20]));
    book(opened, filled(0, TOMORROW, 2), reserved('r1', [FIRST, 20]), captured('r1'))
      .when(reserve('r2', 20, `${TOMORROW}T13:00:00.000Z`))
      .then(reserved('r2', [FIRST, 20]));
  });

  it('is not filled twice when a process is still in the day before', () => {
    book(filled(TEST_CREDITS, TOMORROW)).when(reserve('r1')).thenTypes('CreditsReserved');
  });

  it('is filled anew when a wrong clock has filled it for a later day, and on that day again', () => {
    const later = filled(TEST_CREDITS, '2026-05-30');
    const used = [later, reserved('r1', ['adjustment:test:1:2026-05-30', 20]), captured('r1')];
    book(...used)
      .when(reserve('r2'))
      .then(filled(20, TODAY, 2), reserved('r2', ['adjustment:test:1:2026-05-30', 20]));
    given(testCredits, [bookOpened('2026-05'), ...used, filled(20, TODAY, 2)])
      .when(reserve('r2', 20, '2026-05-30T12:00:00.000Z'))
      .thenTypes('CreditsAdjusted', 'CreditsReserved');
  });

  it('refuses more than it has, and records no fill then', () => {
    book().when(reserve('r1', 10_001)).thenRejects('InsufficientCredits', {
      required: 10_001,
      available: 10_000,
    });
    book(opened, reserved('r1', [FIRST, TEST_CREDITS]))
      .when(reserve('r2', 20, `${TOMORROW}T12:00:00.000Z`))
      .thenRejects('InsufficientCredits', { required: 20, available: 0 });
  });

  it('shows a reader what the next reservation would find', () => {
    const used = [bookOpened(), opened, reserved('r1', [FIRST, 20]), captured('r1')];
    const state = fold(testCredits, testCredits.initialState, used);
    expect(balanceOf(filledAt(state, at(NOW)))).toMatchObject({ available: 9_980, consumed: 20 });
    expect(balanceOf(filledAt(state, at(`${TOMORROW}T00:00:00.000Z`)))).toMatchObject({ available: 10_000 });
  });
});
