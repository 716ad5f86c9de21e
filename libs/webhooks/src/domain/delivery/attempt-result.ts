import type { DisabledReason } from '../../contracts/events.js';

/**
 * Classes of error of an attempt. They show the owner what to repair, and reveal nothing about our network. `asked_refusal`: a
 * test reading asked for it, and nothing was sent. `proxy_failed`: the operator's own proxy could not be used.
 */
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

/**
 * Should the endpoint be disabled after this failure? At once when the receiver answers 410 (gone). Otherwise when
 * nothing has succeeded for `disableAfterMs` and at least ten attempts in a row have failed.
 */
export const disablement = (
  failure: { statusCode: number | null; consecutiveFailures: number; failingSince: number; at: number },
  disableAfterMs: number,
): DisabledReason | null => {
  if (failure.statusCode === 410) return 'gone';
  const forTooLong = failure.at - failure.failingSince >= disableAfterMs;
  return forTooLong && failure.consecutiveFailures >= PROBE_AFTER_FAILURES ? 'failing' : null;
};
