import { describe, expect, it } from '@jest/globals';
import { given } from '#event-sourcing/testing/projection-spec.js';
import { recorded } from '#event-sourcing/testing/recorded.js';
import type { TestBookEvent } from '../../contracts/test-book.js';
import { filled, hold, testCaptured, testReleased, testReserved } from '../../../test/test-book.js';
import { testBalanceProjection } from './test-balance.projection.js';
import { testHoldProjection } from './test-hold.projection.js';

/** The events of a book, at their revisions. */
const booked = (...events: readonly TestBookEvent[]) =>
  events.map((event, index) => recorded('testbook-ws_1', event, { revision: BigInt(index) }));

const OPENED = filled({ amount: 10_000 });
const AT = '2026-01-02T03:04:05.006Z';
const row = (revision: number, credits: object) => ({
  workspace_id: 'ws_1',
  available: 10_000,
  held: 0,
  consumed: 0,
  filled: 10_000,
  ...credits,
  revision: String(revision),
  updated_at: AT,
});

describe('the row of a test book', () => {
  it('is made by its first fill, and moves with each event', () => {
    const events = booked(
      OPENED,
      testReserved('r1'),
      testReserved('r2'),
      testReserved('r3'),
      testCaptured('r1'),
      testReleased('r2'),
    );
    given(testBalanceProjection, events.slice(0, 1)).thenRows({ 'billing.test_balance': [row(0, {})] });
    given(testBalanceProjection, events).thenRows({
      'billing.test_balance': [row(5, { available: 9_960, held: 20, consumed: 20 })],
    });
  });

  it('is stated by each fill', () => {
    const fill = filled({
      day: '2026-04-11',
      amount: 20,
      available: 9_980,
      consumed: 20,
      openHolds: [hold('r2')],
    });
    given(testBalanceProjection, booked(fill)).thenRows({
      'billing.test_balance': [row(0, { available: 9_980, held: 20, consumed: 20, filled: 10_020 })],
    });
  });

  it('adds nothing when events are repeated', () => {
    const events = booked(OPENED, testReserved('r1'));
    given(testBalanceProjection, [...events, ...events]).thenRows({
      'billing.test_balance': [row(1, { available: 9_980, held: 20 })],
    });
  });

  it('is refused when it was deleted: the movement would be lost in silence', () => {
    expect(() => given(testBalanceProjection, booked(testReserved('r1')))).toThrow(
      /row of the book is missing/,
    );
  });
});

describe('the holds of a test book', () => {
  it('have a row while they are open, also when events are repeated', () => {
    const events = booked(OPENED, testReserved('r1'), testReserved('r2'), testCaptured('r1'));
    const open = {
      workspace_id: 'ws_1',
      reservation_id: 'r2',
      reading_id: 'reading of r2',
      amount: 20,
      reserved_at: AT,
      confirmed: false,
    };
    given(testHoldProjection, [...events, events[2]!, events[3]!]).thenRows({ 'billing.test_hold': [open] });
  });
});
