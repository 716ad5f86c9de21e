import { z } from 'zod';
import { event, eventCatalogue, type EventOf } from '@app/event-sourcing/core/event-catalogue.js';

/** Why a reading failed: part of the public contract (`error.code`). */
export const FAILURE_CODES = [
  'generation_failed',
  'input_unprocessable',
  'timed_out',
  'internal_error',
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

/**
 * Stream `reading-<readingId>`. Personal data is sealed with the reading's own key (base64 of `SubjectKey.seal`);
 * digests are keyed.
 */
export const readingEvents = eventCatalogue('reading', {
  ReadingRequested: event(
    1,
    z.strictObject({
      workspaceId: z.string(),
      productId: z.string(),
      profileId: z.string(),
      locale: z.enum(['fr-FR', 'en-US']),
      /** UTC date of acceptance: fixes what "today" means in every retry and format. */
      asOf: z.string(),
      sealedInput: z.string(),
      /** Keyed digest of the canonical request body: tells a replay from another request. */
      inputDigest: z.string(),
      /** Keyed digest of the Idempotency-Key, when one was sent. */
      idempotencyDigest: z.string().nullable(),
      /** Credits. */
      cost: z.int(),
      reservationId: z.string(),
    }),
  ),
  ReadingStarted: event(
    1,
    z.strictObject({ attempt: z.int(), workerId: z.string(), leaseUntil: z.string() }),
  ),
  ReadingAttemptFailed: event(
    1,
    z.strictObject({ attempt: z.int(), code: z.enum(FAILURE_CODES), retryAt: z.string() }),
  ),
  /** `attempts`: started by then; version 1 did not say. */
  ReadingDelayed: event(2, z.strictObject({ workspaceId: z.string(), attempts: z.int().nullable() }), {
    1: (data) => ({ ...(data as object), attempts: null }),
  }),
  /** `sealedResult` opens to the bytes of `/result`; `resultSha256` is their lowercase hex digest. */
  ReadingCompleted: event(
    1,
    z.strictObject({
      workspaceId: z.string(),
      attempt: z.int(),
      reservationId: z.string(),
      sealedResult: z.string(),
      resultSha256: z.string(),
    }),
  ),
  ReadingFailed: event(
    1,
    z.strictObject({
      workspaceId: z.string(),
      code: z.enum(FAILURE_CODES),
      attempts: z.int(),
      reservationId: z.string(),
    }),
  ),
  /** A reservation that no reading used: from here on it never can, so its credits may be released. */
  ReadingAbandoned: event(
    1,
    z.strictObject({ workspaceId: z.string(), reservationId: z.string(), reason: z.string() }),
  ),
  /** Its key was destroyed at this request: what is sealed in this stream, and elsewhere, cannot be opened any more. */
  ReadingErased: event(1, z.strictObject({ workspaceId: z.string() })),
});

export type ReadingEvent = EventOf<typeof readingEvents>;
