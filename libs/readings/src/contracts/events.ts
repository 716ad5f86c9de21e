import { z } from 'zod';
import {
  event,
  eventCatalogue,
  type EventOf,
  type Upcaster,
} from '@app/event-sourcing/core/event-catalogue.js';

/** Why a reading failed: part of the public contract (`error.code`). */
export const FAILURE_CODES = [
  'generation_failed',
  'input_unprocessable',
  'timed_out',
  'internal_error',
] as const;
export type FailureCode = (typeof FAILURE_CODES)[number];

/** Removes fields of older events that must no longer be read. */
const without =
  (...names: readonly string[]): Upcaster =>
  (data) =>
    Object.fromEntries(Object.entries(data as object).filter(([name]) => !names.includes(name)));

/** Upgrades events from before test mode: their readings are live. */
const live: Upcaster = (data) => ({ ...(data as object), livemode: true });

/**
 * Stream `reading-<readingId>`. Personal data is sealed with the reading's own key (base64), padded to steps; no event
 * holds a digest of it (docs/adr/0018). `livemode` is false for a test reading; events from before test mode lack it.
 */
export const readingEvents = eventCatalogue('reading', {
  /** Version 1 had digests of the body and of the Idempotency-Key, made with a service-wide key. */
  ReadingRequested: event(
    3,
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
    { 1: without('inputDigest', 'idempotencyDigest'), 2: live },
  ),
  ReadingStarted: event(
    1,
    z.strictObject({ attempt: z.int(), workerId: z.string(), leaseUntil: z.string() }),
  ),
  ReadingAttemptFailed: event(
    1,
    z.strictObject({ attempt: z.int(), code: z.enum(FAILURE_CODES), retryAt: z.string() }),
  ),
  /** `attempts`: number started before the event; absent in version 1. */
  ReadingDelayed: event(
    3,
    z.strictObject({ workspaceId: z.string(), livemode: z.boolean(), attempts: z.int().nullable() }),
    { 1: (data) => ({ ...(data as object), attempts: null }), 2: live },
  ),
  /** `sealedResult` opens to the bytes of `/result`; its seal authenticates them. Version 1 also had their SHA-256. */
  ReadingCompleted: event(
    3,
    z.strictObject({
      workspaceId: z.string(),
      livemode: z.boolean(),
      attempt: z.int(),
      reservationId: z.string(),
      sealedResult: z.string(),
    }),
    { 1: without('resultSha256'), 2: live },
  ),
  ReadingFailed: event(
    2,
    z.strictObject({
      workspaceId: z.string(),
      livemode: z.boolean(),
      code: z.enum(FAILURE_CODES),
      attempts: z.int(),
      reservationId: z.string(),
    }),
    { 1: live },
  ),
  /** No reading used this reservation, and none can from now on. Its credits may be released. */
  ReadingAbandoned: event(
    2,
    z.strictObject({
      workspaceId: z.string(),
      livemode: z.boolean(),
      reservationId: z.string(),
      reason: z.string(),
    }),
    { 1: live },
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
   * requests; the others had no credits. `null` in version 1. Recorded before their readings.
   */
  BatchRequested: event(
    2,
    z.strictObject({
      workspaceId: z.string(),
      livemode: z.boolean(),
      mode: z.enum(BATCH_MODES),
      items: z.int(),
      refused: z.array(z.int()),
      invalid: z.array(z.int()).nullable(),
    }),
    { 1: (data) => ({ ...(data as object), invalid: null }) },
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
