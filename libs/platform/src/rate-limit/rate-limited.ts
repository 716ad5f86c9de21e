import { Problem } from '../http/problem.js';
import type { RatePolicy } from './policies.js';
import type { RateVerdict } from './rate-limiter.js';

/** The refusal of a request whose bucket has no token. */
export const rateLimited = (
  { name, perMinute, burst }: RatePolicy,
  { retryAfterSeconds }: Pick<RateVerdict, 'retryAfterSeconds'>,
): Problem =>
  new Problem('rate_limited', {
    detail: `More than ${perMinute} requests a minute (${name}), or more than ${burst} at once`,
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });
