import { selectEvents, type RecordedOf } from '#event-sourcing/core/event-catalogue.js';
import { causedBy, causeOf, type RequestContext } from '#event-sourcing/core/request-context.js';
import { command, defineProcess } from '#event-sourcing/processes/process.js';
import { workspaceEvents } from '#workspaces/contracts/index.js';
import { readingEvents } from '#readings/contracts/index.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import { publicationEvents } from '#publishing/contracts/index.js';
import { OpenBook } from './contracts/messages.js';
import type { Settlement } from './application/reservations.js';
import { DOCUMENT_REFUND, isGivenUp } from './domain/document-refund.js';

export const bookOpening = defineProcess({
  name: 'billing.book-opening.v1',
  catalogues: [selectEvents(workspaceEvents, 'WorkspaceOpened')],
  react: (event) => {
    const by = causedBy(causeOf(event), 'billing.book-opening');
    return [command(new OpenBook(event.data.workspaceId, by))];
  },
});

const endsOfReadings = [
  selectEvents(readingEvents, 'ReadingCompleted', 'ReadingFailed', 'ReadingAbandoned'),
] as const;

/** The process that captures: a reading that it passes over is not captured. */
export const SETTLEMENT = 'billing.settlement.v1';

/**
 * The outcome of a reading settles its reservation: `ReadingCompleted` captures it, failed or abandoned releases it.
 * Repeated events change nothing, because a hold settles once.
 */
export const settlement = defineProcess({
  name: SETTLEMENT,
  catalogues: endsOfReadings,
  react: (event) => [command(settle(event))],
});

const settle = (event: RecordedOf<typeof endsOfReadings>): Settlement => {
  const { workspaceId, livemode, reservationId } = event.data;
  const outcome = event.type === 'ReadingCompleted' ? 'capture' : 'release';
  const by = causedBy(causeOf(event), 'billing.settlement');
  return { workspaceId, reservationId, livemode, settlement: outcome, causeEventId: event.id, by };
};

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
