import { assertNever } from '#event-sourcing/core/decider.js';
import type { Recorded } from '#event-sourcing/core/event.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import { defineProjection } from '#event-sourcing/projections/projection.js';
import { view } from '#event-sourcing/projections/view.js';
import { batchEvents, type BatchEvent } from '../../contracts/events.js';

/** A row of `readings.batch`; instants are RFC 3339. */
interface BatchRow {
  readonly batch_id: string;
  readonly workspace_id: string;
  readonly livemode: boolean;
  readonly accepted: number;
  readonly requested_at: string;
  readonly ended_at: string | null;
  readonly correlation_id: string;
}

const evolve = (row: BatchRow | null, event: Recorded<BatchEvent>): BatchRow | null => {
  switch (event.type) {
    case 'BatchRequested': {
      const { workspaceId, livemode, items, refused } = event.data;
      return (
        row ?? {
          batch_id: streamId(event.stream),
          workspace_id: workspaceId,
          livemode,
          accepted: items - refused.length,
          requested_at: event.metadata.occurredAt,
          ended_at: null,
          correlation_id: event.metadata.correlationId,
        }
      );
    }
    case 'BatchEnded':
      return row && (row.ended_at === null ? { ...row, ended_at: event.data.endedAt } : row);
    default:
      return assertNever(event);
  }
};

const batches = view<BatchRow, Recorded<BatchEvent>>({
  table: 'readings.batch',
  key: ['batch_id'],
  keyOf: ({ stream }) => ({ batch_id: streamId(stream) }),
  evolve,
});

/** Which batches have not ended. */
export const batchProjection = defineProjection({
  name: 'readings.batch.v1',
  catalogues: [batchEvents],
  views: [batches],
});
