import type { StoredEvent } from '#event-sourcing/core/event.js';

/**
 * Whether the store recorded the event before the date that its writer gave it.
 * @param boundMs CLOCK_REFUSE_MS: by this much, two clocks may differ
 */
export const isContradicted = (
  { metadata, recordedAt }: Pick<StoredEvent, 'metadata' | 'recordedAt'>,
  boundMs: number,
): boolean => recordedAt !== undefined && Date.parse(metadata.occurredAt) > recordedAt + boundMs;

/**
 * When the event happened (ms): by its date, or by its record time if that contradicts the date.
 * @param boundMs CLOCK_REFUSE_MS
 */
export const timeOf = (event: Pick<StoredEvent, 'metadata' | 'recordedAt'>, boundMs: number): number =>
  isContradicted(event, boundMs) ? event.recordedAt! : Date.parse(event.metadata.occurredAt);
