import { z } from 'zod';
import { event, eventCatalogue, type EventOf } from '#event-sourcing/core/event-catalogue.js';

/** Why a reading failed: part of the public contract (`error.code`). */
export const FAILURE_CODES = [
  'generation_failed',
  'input_unprocessable',
  'timed_out',
  'internal_error',
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

/**
 * Stream `reading-<readingId>`. Personal data is sealed with the reading's own key (base64), padded to steps; no event
 * holds a digest of it (docs/adr/0018). `livemode` is false for a test reading.
 */
export const readingEvents = eventCatalogue('reading', {
  ReadingRequested: event(
    1,
    z.strictObject({
      workspaceId: z.string(),
      livemode: z.boolean(),
      productId: z.string(),
      profileId: z.string(),
      locale: z.enum(['fr-FR', 'en-US']),
      /** UTC date of acceptance. Defines "today" in every retry and format. */
      asOf: z.string(),
      sealedInput: z.string(),
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
  /** `attempts`: number started before the event. */
  ReadingDelayed: event(
    1,
    z.strictObject({ workspaceId: z.string(), livemode: z.boolean(), attempts: z.int() }),
  ),
  /** `sealedResult` opens to the bytes of `/result`; its seal authenticates them. */
  ReadingCompleted: event(
    1,
    z.strictObject({
      workspaceId: z.string(),
      livemode: z.boolean(),
      attempt: z.int(),
      reservationId: z.string(),
      sealedResult: z.string(),
    }),
  ),
  ReadingFailed: event(
    1,
    z.strictObject({
      workspaceId: z.string(),
      livemode: z.boolean(),
      code: z.enum(FAILURE_CODES),
      attempts: z.int(),
      reservationId: z.string(),
    }),
  ),
  /** No reading used this reservation, and none can from now on. Its credits may be released. */
  ReadingAbandoned: event(
    1,
    z.strictObject({
      workspaceId: z.string(),
      livemode: z.boolean(),
      reservationId: z.string(),
      reason: z.string(),
    }),
  ),
  /** The reading's key was destroyed by this request. What it sealed, here and elsewhere, can no longer be opened. */
  ReadingErased: event(1, z.strictObject({ workspaceId: z.string() })),
});

export type ReadingEvent = EventOf<typeof readingEvents>;

/** What a batch does when not all its readings can be accepted: refuse all, or accept those that can be. */
export const BATCH_MODES = ['all', 'available'] as const;
export type BatchMode = (typeof BATCH_MODES)[number];

/**
 * Stream `batch-<batchId>`: readings that were ordered in one request. The ids of its readings derive from the id of the
 * batch.
 */
export const batchEvents = eventCatalogue('batch', {
  /**
   * Credits are held for all items but `refused` (indexes, ascending). `invalid`: those of them that were no valid
   * requests; the others had no credits. Recorded before their readings.
   */
  BatchRequested: event(
    1,
    z.strictObject({
      workspaceId: z.string(),
      livemode: z.boolean(),
      mode: z.enum(BATCH_MODES),
      items: z.int(),
      refused: z.array(z.int()),
      invalid: z.array(z.int()),
    }),
  ),
  /** Each accepted reading has ended. At most one for a batch; the numbers are those of that moment. */
  BatchEnded: event(
    1,
    z.strictObject({
      workspaceId: z.string(),
      livemode: z.boolean(),
      items: z.int(),
      refused: z.int(),
      /** Its documents can be fetched. */
      published: z.int(),
      failed: z.int(),
      /** Its personal data was erased, whatever its state. */
      erased: z.int(),
      /** Its request broke off, and nobody repeated it in time. It cost nothing. */
      notAccepted: z.int(),
      /** RFC 3339: when the service saw that the last one had ended. */
      endedAt: z.string(),
    }),
  ),
});

export type BatchEvent = EventOf<typeof batchEvents>;

const FAILURES: Readonly<Record<FailureCode, { title: string; retryable: boolean }>> = {
  generation_failed: { title: 'The reading could not be generated', retryable: true },
  input_unprocessable: { title: 'The input cannot be processed', retryable: false },
  timed_out: { title: 'The reading was not finished in time', retryable: true },
  internal_error: { title: 'The reading failed for an internal reason', retryable: true },
};

/** The error of a failed reading, as the resource and the webhooks show it. `occurredAt` is RFC 3339 UTC. */
export const failureView = (code: FailureCode, occurredAt: string) => ({
  code,
  ...FAILURES[code],
  occurredAt,
});
