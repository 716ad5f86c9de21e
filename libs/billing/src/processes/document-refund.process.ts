import { selectEvents } from '#event-sourcing/core/event-catalogue.js';
import { causedBy, causeOf, type RequestContext } from '#event-sourcing/core/request-context.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import { command, defineProcess } from '#event-sourcing/processes/process.js';
import { publicationEvents } from '#publishing/contracts/index.js';
import { DOCUMENT_REFUND, isGivenUp } from '../domain/correction.decider.js';

export interface RefundDocument {
  readonly workspaceId: string;
  readonly readingId: string;
  /** Of the `PublicationFailed`. */
  readonly failureId: string;
  readonly by: RequestContext;
}

/** Gives back the credits of a live reading whose document was given up. Repeated events change nothing. */
export const documentRefunds = defineProcess({
  name: 'billing.document-refund.v1',
  catalogues: [selectEvents(publicationEvents, 'PublicationFailed')],
  react: (event) => {
    if (!isGivenUp(event.data)) return [];
    const { workspaceId } = event.data;
    const by = causedBy(causeOf(event), DOCUMENT_REFUND);
    const refund: RefundDocument = {
      workspaceId,
      readingId: streamId(event.stream),
      failureId: event.id,
      by,
    };
    return [command(refund)];
  },
});
