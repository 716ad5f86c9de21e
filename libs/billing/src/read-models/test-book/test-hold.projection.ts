import { selectEvents, type RecordedOf } from '#event-sourcing/core/event-catalogue.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import { defineProjection } from '#event-sourcing/projections/projection.js';
import { view } from '#event-sourcing/projections/view.js';
import { testBookEvents } from '../../contracts/test-book.js';
import type { HoldRow } from '../hold/hold.projection.js';

const movesOfHolds = [
  selectEvents(testBookEvents, 'TestCreditsReserved', 'TestCreditsCaptured', 'TestCreditsReleased'),
] as const;

const holds = view<HoldRow, RecordedOf<typeof movesOfHolds>>({
  table: 'billing.test_hold',
  key: ['workspace_id', 'reservation_id'],
  external: ['confirmed'],
  keyOf: ({ stream, data }) => ({ workspace_id: streamId(stream), reservation_id: data.reservationId }),
  evolve(row, { type, stream, data, metadata }) {
    if (type !== 'TestCreditsReserved') return null;
    return (
      row ?? {
        workspace_id: streamId(stream),
        reservation_id: data.reservationId,
        reading_id: data.readingId,
        amount: data.amount,
        reserved_at: metadata.occurredAt,
        confirmed: false,
      }
    );
  },
});

/** One row per open reservation of a test reading. */
export const testHoldProjection = defineProjection({
  name: 'billing.test-hold.v1',
  catalogues: movesOfHolds,
  views: [holds],
});
