import { selectEvents } from '@app/event-sourcing/core/event-catalogue.js';
import { streamId } from '@app/event-sourcing/core/stream-name.js';
import { command, defineProcess } from '@app/event-sourcing/processes/process.js';
import { publicationEvents } from '@app/publishing/contracts/index.js';
import { EraseReading } from '../contracts/commands.js';

/** Finishes an erasure: who began it may have been killed after its first step. */
export const erasureProcess = defineProcess({
  name: 'readings.erasure.v1',
  catalogues: [selectEvents(publicationEvents, 'PublicationWithdrawn')],
  react: ({ stream, metadata }) => [
    command(new EraseReading(streamId(stream), metadata.workspaceId, metadata.actor, metadata.correlationId)),
  ],
});
