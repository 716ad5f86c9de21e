import { describe, it } from '@jest/globals';
import { given } from '#event-sourcing/testing/projection-spec.js';
import { recorded } from '#event-sourcing/testing/recorded.js';
import type { CreditsEvent } from '../../contracts/events.js';
import { holdProjection } from './hold.projection.js';

const booked = (event: CreditsEvent) => recorded('credits-ws_1', event);

const reserved = (reservationId: string) =>
  booked({
    type: 'CreditsReserved',
    data: {
      reservationId,
      readingId: `reading of ${reservationId}`,
      amount: 20,
      allocations: [{ grantId: 'plan:1', amount: 20 }],
    },
  });
const captured = (reservationId: string) =>
  booked({
    type: 'CreditsCaptured',
    data: { reservationId, readingId: `reading of ${reservationId}`, amount: 20, causeEventId: 'event-9' },
  });
const held = (reservationId: string) => ({
  workspace_id: 'ws_1',
  mode: 'live',
  reservation_id: reservationId,
  reading_id: `reading of ${reservationId}`,
  amount: 20,
  reserved_at: '2026-01-02T03:04:05.006Z',
  confirmed: false,
});

describe('the holds of a book', () => {
  it('have a row while they are open', () => {
    given(holdProjection, [reserved('r1'), reserved('r2')]).thenRows({
      'billing.hold': [held('r1'), held('r2')],
    });
    given(holdProjection, [reserved('r1'), reserved('r2'), captured('r1')]).thenRows({
      'billing.hold': [held('r2')],
    });
  });

  it('are the same when an event is repeated', () => {
    given(holdProjection, [reserved('r1'), reserved('r1')]).thenRows({ 'billing.hold': [held('r1')] });
    given(holdProjection, [reserved('r1'), captured('r1'), captured('r1')]).thenRows({ 'billing.hold': [] });
  });
});
