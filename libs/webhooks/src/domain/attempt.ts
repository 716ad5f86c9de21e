import { createHash } from 'node:crypto';
import type { DeliveryStatus, DisabledReason } from '../contracts/index.js';

/**
 * The states of a delivery: one event for one endpoint.
 *
 *     insert ──▶ scheduled ──▶ due ──▶ in flight ──▶ succeeded
 *                    ▲          ▲       │  │  │
 *                    │          └─lease─┘  │  └────▶ exhausted
 *                    └────────retry────────┘
 *     insert, scheduled, due, in flight ───────────▶ skipped
 *
 * - scheduled: pending, `due_at` is in the future. It waits for its first attempt, for the back-off of a retry, or for
 *   the retry of an earlier delivery of the same reading.
 * - due: pending, `due_at` has passed. It is sent when a worker has the lease of the workspace, the in-flight limits allow
 *   it, and no earlier delivery of its reading is pending.
 * - in flight: pending, an attempt is being made under the lease of the workspace. Only the worker that has the lease knows.
 *   When it is given up, or expires before an outcome is recorded, the delivery is due.
 * - succeeded: the receiver answered 2xx.
 * - exhausted: the last attempt of the retry schedule failed. A failure of the service's own proxy is never the last.
 * - skipped: the endpoint was disabled or deleted, before or after the insert.
 *
 * The last three are final. An outcome that arrives afterwards adds its attempt to the history and changes no status. A
 * redelivery or a replay is a new delivery of the same event. The first three are `pending` rows of the queue
 * (`webhooks.delivery`); a settled delivery is a row of the history (`webhooks.settled_delivery`).
 *
 * An event with several deliveries to an endpoint has the first of these statuses that any of them has.
 */
export const OUTCOME_PRECEDENCE: readonly DeliveryStatus[] = ['pending', 'succeeded', 'exhausted', 'skipped'];

/** Classes of error, for the owner to repair. `asked_refusal`: by a test reading, unsent. `proxy_failed`: the operator's own proxy. */
export const ATTEMPT_ERRORS = [
  'timeout',
  'dns_failed',
  'connect_failed',
  'connection_lost',
  'tls_error',
  'blocked_address',
  'invalid_url',
  'redirect_not_followed',
  'invalid_response',
  'http_error',
  'asked_refusal',
  'proxy_failed',
] as const;
export type AttemptError = (typeof ATTEMPT_ERRORS)[number];

/** Is it a failure of the service's own way out? Nothing was sent, and the next delivery would fail likewise. */
export const isOfWayOut = (error: AttemptError | null): boolean => error === 'proxy_failed';

/** Does a failure say something about the receiver? Others are tried again, and never count against its endpoint. */
export const isOfReceiver = (error: AttemptError): boolean => error !== 'asked_refusal' && !isOfWayOut(error);

export interface AttemptResult {
  /** `null`: the receiver answered 2xx. */
  readonly error: AttemptError | null;
  readonly statusCode: number | null;
  readonly retryAfterMs: number | null;
  /** First bytes of the response body. */
  readonly responseBody: Uint8Array | null;
}

/** The result of an attempt that a test reading asked to be refused. Nothing was sent. */
export const ASKED_REFUSAL: AttemptResult = {
  error: 'asked_refusal',
  statusCode: 503,
  retryAfterMs: null,
  responseBody: null,
};

/** Classifies an HTTP status: only 2xx is success, and redirects are not followed. */
export const judgeStatus = (statusCode: number): AttemptError | null => {
  if (statusCode >= 200 && statusCode < 300) return null;
  return statusCode >= 300 && statusCode < 400 ? 'redirect_not_followed' : 'http_error';
};

/** Consecutive failures after which an endpoint is only probed. */
export const PROBE_AFTER_FAILURES = 10;
export const PROBE_PAUSE_MS = 300_000;

/** Disable it after this failure? At once on 410; else after ten failures in a row and `disableAfterMs` without success. */
export const disablement = (
  failure: { statusCode: number | null; consecutiveFailures: number; failingSince: number; at: number },
  disableAfterMs: number,
): DisabledReason | null => {
  if (failure.statusCode === 410) return 'gone';
  const forTooLong = failure.at - failure.failingSince >= disableAfterMs;
  return forTooLong && failure.consecutiveFailures >= PROBE_AFTER_FAILURES ? 'failing' : null;
};

export const MAX_RETRY_AFTER_MS = 86_400_000;
/** Between attempts after the schedule's end. */
const MIN_REPEATED_MS = 300_000;
const JITTER = 0.2;

/**
 * Milliseconds to wait after `attempts` attempts, or `null` after the last one. A hash of delivery and attempt spreads
 * the scheduled pause by ±20 %, so that any worker computes the same. A receiver's Retry-After can only lengthen it, up
 * to 24 h.
 * @param schedule pause before each attempt, in milliseconds; its length is the number of attempts
 */
export const retryPause = (
  schedule: readonly number[],
  deliveryId: string,
  attempts: number,
  retryAfterMs: number | null,
): number | null => {
  const scheduled = schedule[attempts];
  if (scheduled === undefined) return null;
  const jittered = Math.round(scheduled * (1 + JITTER * (2 * fraction(deliveryId, attempts) - 1)));
  return Math.max(jittered, Math.min(retryAfterMs ?? 0, MAX_RETRY_AFTER_MS));
};

/** Pause after an attempt that the service itself failed, never the last: then the last pause repeats, 5 minutes at least. */
export const pauseAfterOwnFailure = (
  schedule: readonly number[],
  deliveryId: string,
  attempts: number,
): number =>
  retryPause(schedule, deliveryId, attempts, null) ??
  Math.max(MIN_REPEATED_MS, retryPause(schedule, deliveryId, schedule.length - 1, null)!);

/** Uniform over [0, 1). */
const fraction = (deliveryId: string, attempts: number): number =>
  createHash('sha256').update(`${deliveryId}|${attempts}`).digest().readUInt32BE(0) / 2 ** 32;

/** Retry-After (RFC 9110, 10.2.3), each whole seconds or a date, as ms from `now`: the longest. `null`: absent or invalid. */
export const parseRetryAfter = (fields: readonly string[], now: number): number | null => {
  const pauses = fields.map((field) => pauseOf(field.trim(), now)).filter((pause) => !Number.isNaN(pause));
  return pauses.length === 0 ? null : Math.max(0, ...pauses);
};

const pauseOf = (text: string, now: number): number => {
  if (/^\d{1,15}$/.test(text)) return Number(text) * 1_000;
  if (!HTTP_DATE.test(text)) return Number.NaN;
  // The form of asctime names no zone; `Date.parse` would take this machine's.
  return Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`) - now;
};

/** The three forms (RFC 9110, 5.6.7): IMF-fixdate, that of RFC 850, and that of asctime. */
const HTTP_DATE = /^[A-Z][a-z]{2,8}(, [\w -]{9,11}| [A-Z][a-z]{2} [ \d]\d) \d\d:\d\d:\d\d (GMT|\d{4})$/;
