import { createHash } from 'node:crypto';

export const LONGEST_RETRY_AFTER_MS = 86_400_000;
/** Between attempts after the schedule's end. */
const LEAST_REPEATED_MS = 300_000;
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
  return Math.max(jittered, Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS));
};

/**
 * Milliseconds to wait after an attempt that the service itself failed. It is never the last: after the schedule's end,
 * the last pause is repeated, 5 minutes at least.
 */
export const pauseAfterOwnFailure = (
  schedule: readonly number[],
  deliveryId: string,
  attempts: number,
): number =>
  retryPause(schedule, deliveryId, attempts, null) ??
  Math.max(LEAST_REPEATED_MS, retryPause(schedule, deliveryId, schedule.length - 1, null)!);

/** Uniform over [0, 1). */
const fraction = (deliveryId: string, attempts: number): number =>
  createHash('sha256').update(`${deliveryId}|${attempts}`).digest().readUInt32BE(0) / 2 ** 32;

/**
 * Retry-After (RFC 9110, 10.2.3), as milliseconds from `now`: the longest pause, if it was sent several times; `null` when
 * it is absent or invalid.
 * @param fields each as whole seconds or an HTTP date
 */
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
