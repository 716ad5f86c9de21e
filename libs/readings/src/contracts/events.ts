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

/** Leaves out what older events say and nobody may read any more. */
const without =
  (...names: readonly string[]): Upcaster =>
  (data) =>
    Object.fromEntries(Object.entries(data as object).filter(([name]) => !names.includes(name)));

/**
 * Stream `reading-<readingId>`. Personal data is sealed with the reading's own key (base64), padded to steps; no event
 * holds a digest of it (docs/adr/0018).
 */
export const readingEvents = eventCatalogue('reading', {
  /** Version 1 had digests of the body and of the Idempotency-Key, under a key of the whole service. */
  ReadingRequested: event(
    2,
    z.strictObject({
      workspaceId: z.string(),
      productId: z.string(),
      profileId: z.string(),
      locale: z.enum(['fr-FR', 'en-US']),
      /** UTC date of acceptance: fixes what "today" means in every retry and format. */
      asOf: z.string(),
      sealedInput: z.string(),
      /** Credits. */
      cost: z.int(),
      reservationId: z.string(),
    }),
    { 1: without('inputDigest', 'idempotencyDigest') },
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
  /** `sealedResult` opens to the bytes of `/result`, which its seal vouches for. Version 1 had their SHA-256 beside it. */
  ReadingCompleted: event(
    2,
    z.strictObject({
      workspaceId: z.string(),
      attempt: z.int(),
      reservationId: z.string(),
      sealedResult: z.string(),
    }),
    { 1: without('resultSha256') },
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
