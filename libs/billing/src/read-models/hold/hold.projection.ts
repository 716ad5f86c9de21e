import type { Recorded } from '@app/event-sourcing/core/event.js';
import { streamId } from '@app/event-sourcing/core/stream-name.js';
import type { Projection } from '@app/event-sourcing/projections/projection.js';
import { sql } from '@app/event-sourcing/projections/statement.js';
import { creditsEvents, type CreditsEvent } from '../../contracts/events.js';

/** One row per open reservation. */
export const holdProjection: Projection = {
  name: 'billing.hold.v1',
  catalogues: [creditsEvents],
  onPoison: 'halt',
  project: (recorded) => {
    const event = recorded as Recorded<CreditsEvent>;
    const workspaceId = streamId(event.stream);
    switch (event.type) {
      case 'CreditsReserved': {
        const { reservationId, readingId, amount } = event.data;
        return [
          sql`
          insert into billing.hold (workspace_id, reservation_id, reading_id, amount, reserved_at)
          values (${workspaceId}, ${reservationId}, ${readingId}, ${amount}, ${event.metadata.occurredAt})
          on conflict do nothing`,
        ];
      }
      case 'CreditsCaptured':
      case 'CreditsReleased':
        return [
          sql`
          delete from billing.hold
          where workspace_id = ${workspaceId} and reservation_id = ${event.data.reservationId}`,
        ];
      default:
        return [];
    }
  },
};
