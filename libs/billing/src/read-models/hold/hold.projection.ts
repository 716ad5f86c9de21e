import type { Recorded } from '@app/event-sourcing/core/event.js';
import { streamId } from '@app/event-sourcing/core/stream-name.js';
import type { Projection } from '@app/event-sourcing/projections/projection.js';
import { sql, type Statement } from '@app/event-sourcing/projections/statement.js';
import { creditsEvents, type CreditsEvent } from '../../contracts/events.js';

/** One row per open reservation. */
export const holdProjection: Projection = {
  name: 'billing.hold.v1',
  catalogues: [creditsEvents],
  onPoison: 'halt',
  project: (event) => holdStatements(event as Recorded<CreditsEvent>),
};

const holdStatements = (event: Recorded<CreditsEvent>): readonly Statement[] => {
  const workspaceId = streamId(event.stream);
  if (event.type === 'CreditsReserved') {
    const { reservationId, readingId, amount } = event.data;
    const open = sql`
      insert into billing.hold (workspace_id, reservation_id, reading_id, amount, reserved_at)
      values (${workspaceId}, ${reservationId}, ${readingId}, ${amount}, ${event.metadata.occurredAt})
      on conflict do nothing`;
    return [open];
  }
  if (event.type === 'CreditsCaptured' || event.type === 'CreditsReleased') {
    const settle = sql`
      delete from billing.hold
      where workspace_id = ${workspaceId} and reservation_id = ${event.data.reservationId}`;
    return [settle];
  }
  return [];
};
