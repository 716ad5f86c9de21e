import { describe, expect, it } from '@jest/globals';
import { given } from '#event-sourcing/testing/decider-spec.js';
import { TEST_CREDITS, type TestBookEvent } from '../../contracts/test-book.js';
import {
  NOON,
  TODAY,
  capture,
  filled,
  hold,
  release,
  reserve,
  reserveMany,
  testCaptured,
  testReleased,
  testReserved,
} from '../../../test/test-book.js';
import { testBook, testBookAt } from './test-book.decider.js';
import { noTestBook } from './test-book.state.js';

const DAY_MS = 86_400_000;
const book = (...events: readonly TestBookEvent[]) => given(testBook, events);
const opened = filled({ amount: TEST_CREDITS });

describe('a test book', () => {
  it('is opened with 10,000 credits by the first reservation', () => {
    expect(TEST_CREDITS).toBe(10_000);
    book()
      .when(reserve('r1'))
      .then(filled({ amount: 10_000, available: 10_000 }), testReserved('r1'));
  });

  it('is not opened by a settlement: it has no such reservation', () => {
    book().when(capture('r1')).thenIgnores('UnknownReservation');
    book().when(release('r1')).thenIgnores('UnknownReservation');
  });

  it('holds for a batch in one append: all of it or none, or as many as it has credits for', () => {
    const spent = filled({ amount: 40, available: 40 });
    book()
      .when(reserveMany(['r1', 'r2'], true))
      .then(opened, testReserved('r1'), testReserved('r2'));
    book(spent)
      .when(reserveMany(['r1', 'r2', 'r3'], true))
      .thenRejects('InsufficientCredits', { required: 60, available: 40 });
    book(spent)
      .when(reserveMany(['r1', 'r2', 'r3'], false))
      .then(testReserved('r1'), testReserved('r2'));
    book(spent, testReserved('r1'), testReserved('r2'))
      .when(reserveMany(['r3'], false))
      .thenRejects('InsufficientCredits', { required: 20, available: 0 });
  });

  it('keeps what a first request of a batch holds when it reaches for no more of it', () => {
    const before = [filled({ amount: 20, available: 20 }), testReserved('r1')];
    book(...before)
      .when(reserveMany(['r1', 'r2'], false))
      .thenIgnores('AlreadyReserved');
    book(...before)
      .when(reserveMany(['r1', 'r2'], true))
      .thenRejects('InsufficientCredits', { required: 20, available: 0 });
  });

  it('leaves out of a batch what it already holds or has settled', () => {
    const before = [opened, testReserved('r1'), testReserved('r2'), testCaptured('r2')];
    book(...before)
      .when(reserveMany(['r1', 'r2', 'r3'], true))
      .then(testReserved('r3'));
    book(...before)
      .when(reserveMany(['r1', 'r2'], true))
      .thenIgnores('AlreadyReserved');
  });

  it('is not filled again on the same day', () => {
    book(opened, testReserved('r1'), testCaptured('r1')).when(reserve('r2')).then(testReserved('r2'));
  });

  it('is filled up by the first reservation of the next UTC day, and carries its state', () => {
    book(
      opened,
      testReserved('r1'),
      testCaptured('r1'),
      testReserved('r2'),
      testReserved('r3'),
      testReleased('r3'),
    )
      .when(reserve('r4', 20, NOON + DAY_MS))
      .then(
        filled({
          day: '2026-04-11',
          amount: 20,
          available: 9_980,
          consumed: 20,
          openHolds: [hold('r2')],
          settled: { older: [], newer: ['r1', 'r3'] },
        }),
        testReserved('r4'),
      );
  });

  it('is filled on a day on which nothing is missing, so that the day has its fill', () => {
    book(opened)
      .when(reserve('r1', 20, NOON + DAY_MS))
      .then(filled({ day: '2026-04-11', amount: 0 }), testReserved('r1'));
  });

  it('is filled at midnight UTC and not before', () => {
    const midnight = Date.parse('2026-04-11T00:00:00.000Z');
    book(opened)
      .when(reserve('r1', 20, midnight - 1))
      .thenTypes('TestCreditsReserved');
    book(opened)
      .when(reserve('r1', 20, midnight))
      .thenTypes('TestBookFilled', 'TestCreditsReserved');
  });

  it('is not filled by the settlement of a reservation of the day before', () => {
    book(opened, testReserved('r1')).when(capture('r1')).then(testCaptured('r1'));
  });

  it('is not filled twice when a process is still in the day before', () => {
    book(filled({ day: '2026-04-11', amount: TEST_CREDITS }))
      .when(reserve('r1'))
      .then(testReserved('r1'));
  });

  it('is filled anew when a wrong clock has filled it for a later day', () => {
    book(filled({ day: '2026-05-30', amount: TEST_CREDITS }), testReserved('r1'), testCaptured('r1'))
      .when(reserve('r2'))
      .then(
        filled({
          day: TODAY,
          amount: 20,
          consumed: 20,
          settled: { older: [], newer: ['r1'] },
        }),
        testReserved('r2'),
      );
  });

  it('refuses more than it has, and says how much that is', () => {
    book(opened, testReserved('r1', 9_990))
      .when(reserve('r2'))
      .thenRejects('InsufficientCredits', { required: 20, available: 10 });
    book()
      .when(reserve('r1', 10_001))
      .thenRejects('InsufficientCredits', { required: 10_001, available: 10_000 });
  });

  it('has no more than 10,000 credits, what it holds included', () => {
    const full = testReserved('r1', TEST_CREDITS);
    book(opened, full)
      .when(reserve('r2', 20, NOON + DAY_MS))
      .thenRejects('InsufficientCredits', { required: 20, available: 0 });
  });

  it('holds nothing more when the reservation is open already', () => {
    book(opened, testReserved('r1')).when(reserve('r1')).thenIgnores('AlreadyReserved');
  });

  it('settles a reservation once, and refuses to hold it again', () => {
    for (const settled of [testCaptured('r1'), testReleased('r1')]) {
      const ended = book(opened, testReserved('r1'), settled);
      ended.when(capture('r1')).thenIgnores('AlreadySettled');
      ended.when(release('r1')).thenIgnores('AlreadySettled');
      ended.when(reserve('r1')).thenRejects('ReservationSettled', { reservationId: 'r1' });
    }
  });

  it('consumes captured credits and returns released ones', () => {
    const { state } = book(
      opened,
      testReserved('r1'),
      testReserved('r2'),
      testCaptured('r1'),
      testReleased('r2'),
    );
    expect(state).toMatchObject({ available: 9_980, held: 0, consumed: 20 });
  });

  it('shows a reader what the next reservation would find', () => {
    expect(testBookAt(noTestBook, 'ws_1', NOON)).toMatchObject({ workspaceId: 'ws_1', available: 10_000 });
    const { state } = book(opened, testReserved('r1'), testCaptured('r1'));
    expect(testBookAt(state, 'ws_1', NOON)).toBe(state);
    expect(testBookAt(state, 'ws_1', NOON + DAY_MS)).toMatchObject({ available: 10_000, consumed: 20 });
  });
});
