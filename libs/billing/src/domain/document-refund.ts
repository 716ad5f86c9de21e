import { uuid5 } from '#event-sourcing/core/event-id.js';
import type { PublicationEvent } from '#publishing/contracts/index.js';

type Failure = Extract<PublicationEvent, { type: 'PublicationFailed' }>;

/** Who gives the credits back, in place of two operators. */
export const DOCUMENT_REFUND = 'billing.document-refund';
export const DOCUMENT_REFUND_ACTOR = `system:${DOCUMENT_REFUND}`;

/** Whether the service gave up the only document of a reading. With a lost key, operators decide after a restore. */
export const isGivenUp = ({ version, code }: Failure['data']): boolean =>
  version === 1 && code === 'generation_failed';

/**
 * The facts of the entry that gives back the credits of a reading. One failure has one entry.
 * @param failureId event id of the `PublicationFailed`
 * @param amount what is left to reverse of the capture, in credits
 */
export const documentRefund = (
  readingId: string,
  failureId: string,
  captureEventId: string,
  amount: number,
) => ({
  adjustmentId: uuid5(failureId, 'refund'),
  amount,
  reason: 'the document of the reading could not be made',
  reversesEventId: captureEventId,
  reference: readingId,
});
