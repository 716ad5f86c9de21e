import type { DomainEvent } from '@app/event-sourcing/core/event.js';

/** Bytes of metadata, type and ids that the store counts with the data of an event, at most. */
const METADATA_BYTES = 500;

/**
 * Most bytes that one decision may append. EventStoreDB refuses an append above 1 MiB; the rest is for other commands that
 * are appended in the same call.
 */
export const MOST_APPEND_BYTES = 950_000;

/**
 * Most bytes of the close that a correction may leave in a book. The close of a month is one event, so 1 MiB is the most.
 * The rest is for 1,000 holds (READINGS_IN_FLIGHT) of 212 bytes, and for 4,096 settled reservations of 39.
 */
export const MOST_CARRIED_BYTES = 640_000;

/** Bytes that the store counts for these events when they are appended in one call. */
export const bytesOf = (events: readonly DomainEvent[]): number =>
  events.reduce((sum, { data }) => sum + Buffer.byteLength(JSON.stringify(data)) + METADATA_BYTES, 0);
