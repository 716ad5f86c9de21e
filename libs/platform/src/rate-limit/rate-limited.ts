import { Problem } from '../http/problem.js';
import type { RatePolicy } from './policies.js';
import type { RateVerdict } from './rate-limiter.js';

/** They count who proves nothing. */
const OF_ADDRESSES: readonly RatePolicy['name'][] = ['unauthenticated', 'public', 'probe'];

/** The refusal of a request that its bucket has no token for. */
export const rateLimited = (
  { name, perMinute, burst }: RatePolicy,
  { retryAfterSeconds }: Pick<RateVerdict, 'retryAfterSeconds'>,
): Problem =>
  new Problem('rate_limited', {
    detail: `More than ${perMinute} requests a minute (${name}), or more than ${burst} at once`,
    headers: { 'Retry-After': String(retryAfterSeconds) },
    isHeldBack: OF_ADDRESSES.includes(name),
  });
