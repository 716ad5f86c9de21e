import { Problem } from '../http/problem.js';
import type { RatePolicy } from './policies.js';
import type { RateVerdict } from './rate-limiter.js';

/** The policies for requests without proven caller. */
const OF_ADDRESSES: readonly RatePolicy['name'][] = ['unauthenticated', 'public', 'probe'];

/** The refusal of a request whose bucket has no token. */
export const rateLimited = (
  { name, perMinute, burst }: RatePolicy,
  { retryAfterSeconds }: Pick<RateVerdict, 'retryAfterSeconds'>,
): Problem =>
  new Problem('rate_limited', {
    detail: `More than ${perMinute} requests a minute (${name}), or more than ${burst} at once`,
    headers: { 'Retry-After': String(retryAfterSeconds) },
    isHeldBack: OF_ADDRESSES.includes(name),
  });
