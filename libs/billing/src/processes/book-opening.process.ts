import type { Recorded } from '@app/event-sourcing/core/event.js';
import { command, type Process } from '@app/event-sourcing/processes/process.js';
import { workspaceEvents, type WorkspaceEvent } from '@app/workspaces/contracts/index.js';
import { OpenBook } from '../contracts/commands.js';

/** Every workspace gets a credit book. */
export const bookOpening: Process<OpenBook> = {
  name: 'billing.book-opening.v1',
  catalogues: [workspaceEvents],
  react: (recorded) => {
    const event = recorded as Recorded<WorkspaceEvent>;
    if (event.type !== 'WorkspaceOpened') return [];
    const by = {
      actor: 'system:billing.book-opening',
      correlationId: event.metadata.correlationId,
      causationId: event.id,
    };
    return [command(new OpenBook(event.data.workspaceId, by))];
  },
};
