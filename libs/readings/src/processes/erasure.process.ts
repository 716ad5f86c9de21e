import { streamId } from '@app/event-sourcing/core/stream-name.js';
import { command, type Process } from '@app/event-sourcing/processes/process.js';
import { publicationEvents } from '@app/publishing/contracts/index.js';
import { EraseReading } from '../contracts/commands.js';

/** An erasure that was begun is done: who began it may have been killed after its first step. */
export const erasureProcess: Process<EraseReading> = {
  name: 'readings.erasure.v1',
  catalogues: [publicationEvents],
  react: ({ type, stream, metadata }) =>
    type === 'PublicationWithdrawn'
      ? [
          command(
            new EraseReading(streamId(stream), metadata.workspaceId, metadata.actor, metadata.correlationId),
          ),
        ]
      : [],
};
