import { uuid5 } from '#event-sourcing/core/event-id.js';
import type { PublicationEvent } from '#publishing/contracts/index.js';

/** Who gives the credits of a document back that failed, in place of two operators. */
export const DOCUMENT_REFUND = 'billing.document-refund';
export const DOCUMENT_REFUND_ACTOR = `system:${DOCUMENT_REFUND}`;

/** Whether the service gave up the only document of a reading. With a lost key, operators decide after a restore. */
export const isGivenUp = (data: Extract<PublicationEvent, { type: 'PublicationFailed' }>['data']): boolean =>
  data.version === 1 && data.code === 'generation_failed';

/** The one entry of a failure (event id). @param amount credits that are left to reverse of the capture */
export const documentRefund = (readingId: string, failureId: string, captureId: string, amount: number) => ({
  adjustmentId: uuid5(failureId, 'refund'),
  amount,
  reason: 'the document of the reading could not be made',
  reversesEventId: captureId,
  reference: readingId,
});
