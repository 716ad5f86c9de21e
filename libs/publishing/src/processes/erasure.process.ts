import { selectEvents } from '#event-sourcing/core/event-catalogue.js';
import { requestedBy } from '#event-sourcing/core/request-context.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import { command, defineProcess } from '#event-sourcing/processes/process.js';
import { EraseReading } from '#readings/contracts/index.js';
import { publicationEvents } from '../contracts/events.js';

/**
 * Finishes an erasure whose process was killed between withdrawing the publication and recording the erasure. It is
 * here because it follows publication events. Its name says `readings` because stored checkpoints have that name.
 */
export const erasureProcess = defineProcess({
  name: 'readings.erasure.v1',
  catalogues: [selectEvents(publicationEvents, 'PublicationWithdrawn')],
  react: ({ stream, metadata }) => [
    command(
      new EraseReading(
        streamId(stream),
        metadata.workspaceId,
        requestedBy(metadata.actor, metadata.correlationId),
      ),
    ),
  ],
});
