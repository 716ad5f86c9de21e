import type { DomainEvent } from '#event-sourcing/core/event.js';

/** Bytes of metadata, type and ids that the store counts with the data of an event, at most. */
const METADATA_BYTES = 500;

/**
 * Most bytes that one decision may append. EventStoreDB refuses an append above 1 MiB.
 */
export const MOST_APPEND_BYTES = 950_000;

/** Most bytes of what is due that one decision records. The rest of an append is for the entry that was asked for. */
export const MOST_DUE_BYTES = 800_000;

/** Most bytes of the close of a month, and of each of its parts. */
export const MOST_PART_BYTES = 256_000;

/** Bytes that the store counts for these events when they are appended in one call. */
export const bytesOf = (events: readonly DomainEvent[]): number =>
  events.reduce((sum, { data }) => sum + jsonBytes(data) + METADATA_BYTES, 0);

/** Bytes of a value as JSON. */
export const jsonBytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value));
