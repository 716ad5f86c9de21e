import { MOST_ENTRIES, type CorrectionEntry } from '#billing/contracts/index.js';
import { uuid5 } from '#event-sourcing/core/event-id.js';
import { entryOf } from '../corrections.js';
import { OpsError } from '../../ops-error.js';
import type { UnreadableReading } from './unreadable.js';

/** What is left to refund of a reading. */
export const creditsToRefund = ({ toRefund }: Pick<UnreadableReading, 'toRefund'>): number =>
  toRefund.reduce((sum, { amount }) => sum + amount, 0);

/**
 * The correction that refunds what is left of these readings. A repeated command names the same correction; another one
 * once a refund was taken back.
 * @throws OpsError when one correction cannot hold it
 */
export const refundOf = (
  readings: readonly UnreadableReading[],
  given: { readonly reason: string; readonly reference?: string },
): { readonly reason: string; readonly reference: string; readonly entries: readonly CorrectionEntry[] } => {
  const { reason } = given;
  const seen = readings.map(({ readingId, corrections }) => [readingId, ...corrections].join('/'));
  const reference = given.reference ?? `refund-${uuid5(...seen)}`;
  const entries = readings.flatMap(({ readingId, workspaceId, cause, toRefund }) => {
    const why = `Refund of reading ${readingId}, whose ${cause} is lost: ${reason}`;
    return toRefund.map((one) => entryOf({ ...one, workspaceId, reason: why, reference }));
  });
  if (entries.length > MOST_ENTRIES)
    throw new OpsError(
      `${readings.length} readings need ${entries.length} entries, and one correction has ${MOST_ENTRIES} at most: name fewer.`,
    );
  return { reason, reference, entries };
};
