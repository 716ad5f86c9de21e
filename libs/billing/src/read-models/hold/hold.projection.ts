import { selectEvents, type RecordedOf } from '#event-sourcing/core/event-catalogue.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import { defineProjection } from '#event-sourcing/projections/projection.js';
import { view } from '#event-sourcing/projections/view.js';
import type { Mode } from '#event-sourcing/core/mode.js';
import { creditsEvents, testBookEvents } from '../../contracts/events.js';
import { modeOfStream } from '../mode-of.js';

interface HoldRow {
  readonly workspace_id: string;
  readonly mode: Mode;
  readonly reservation_id: string;
  readonly reading_id: string;
  readonly amount: number | string;
  readonly reserved_at: string;
  /** Set by the hold fence. A hold inserted again is fenced again, which changes nothing. */
  readonly confirmed: boolean;
}

const movesOfHolds = [
  selectEvents(creditsEvents, 'CreditsReserved', 'CreditsCaptured', 'CreditsReleased'),
  selectEvents(testBookEvents, 'CreditsReserved', 'CreditsCaptured', 'CreditsReleased'),
] as const;

const holds = view<HoldRow, RecordedOf<typeof movesOfHolds>>({
  table: 'billing.hold',
  key: ['workspace_id', 'mode', 'reservation_id'],
  external: ['confirmed'],
  keyOf: ({ stream, data }) => ({
    workspace_id: streamId(stream),
    mode: modeOfStream(stream),
    reservation_id: data.reservationId,
  }),
  evolve(row, event) {
    if (event.type !== 'CreditsReserved') return null;
    const { reservationId, readingId, amount } = event.data;
    return (
      row ?? {
        workspace_id: streamId(event.stream),
        mode: modeOfStream(event.stream),
        reservation_id: reservationId,
        reading_id: readingId,
        amount,
        reserved_at: event.metadata.occurredAt,
        confirmed: false,
      }
    );
  },
});

/** One row per open reservation. */
export const holdProjection = defineProjection({
  name: 'billing.hold.v1',
  catalogues: movesOfHolds,
  views: [holds],
});
