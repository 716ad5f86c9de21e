import { uuid5 } from '#event-sourcing/core/event-id.js';
import type { ExpectedRevision } from '#event-sourcing/store/event-store.js';

/**
 * The reservation of a request that found a reading's stream at this revision. A released reservation is never reused.
 */
export const reservationIdAt = (readingId: string, revision: ExpectedRevision): string =>
  uuid5(readingId, 'reservation', String(revision));

/** Every reservation that requests can have made for a reading whose stream is now at this revision. */
export const reservationIdsUpTo = (readingId: string, revision: ExpectedRevision): readonly string[] => [
  reservationIdAt(readingId, 'no_stream'),
  ...(revision === 'no_stream'
    ? []
    : Array.from({ length: Number(revision) + 1 }, (_, at) => reservationIdAt(readingId, BigInt(at)))),
];
