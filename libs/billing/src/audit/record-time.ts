import type { StoredEvent } from '@app/event-sourcing/core/event.js';

/** A date this much after the record time (ms) is wrong, where no CLOCK_REFUSE_MS is given. */
export const RECORD_TIME_BOUND_MS = 10_000;

/** Whether the store recorded the event before the date that its writer gave it. */
export const isContradicted = (
  { metadata, recordedAt }: Pick<StoredEvent, 'metadata' | 'recordedAt'>,
  boundMs = RECORD_TIME_BOUND_MS,
): boolean => recordedAt !== undefined && Date.parse(metadata.occurredAt) > recordedAt + boundMs;

/**
 * When the event happened (ms): by its date, or by its record time if that contradicts the date.
 * @param boundMs CLOCK_REFUSE_MS
 */
export const timeOf = (event: Pick<StoredEvent, 'metadata' | 'recordedAt'>, boundMs?: number): number =>
  isContradicted(event, boundMs) ? event.recordedAt! : Date.parse(event.metadata.occurredAt);
