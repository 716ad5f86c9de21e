import { selectEvents } from '#event-sourcing/core/event-catalogue.js';
import { causedBy, causeOf } from '#event-sourcing/core/request-context.js';
import { command, defineProcess } from '#event-sourcing/processes/process.js';
import { workspaceEvents } from '#workspaces/contracts/index.js';
import { OpenBook } from '../contracts/commands.js';

/** Opens a credit book for every workspace. */
export const bookOpening = defineProcess({
  name: 'billing.book-opening.v1',
  catalogues: [selectEvents(workspaceEvents, 'WorkspaceOpened')],
  react: (event) => {
    const by = causedBy(causeOf(event), 'billing.book-opening');
    return [command(new OpenBook(event.data.workspaceId, by))];
  },
});
