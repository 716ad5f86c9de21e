import type { FailureCode } from './events.js';

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
