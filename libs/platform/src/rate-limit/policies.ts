import type { Config } from '../config/settings.js';
import { Problem } from '../http/problem.js';

/** A token bucket: `perMinute` tokens flow in evenly; `burst` is its capacity. */
export interface RatePolicy {
  readonly name: 'read' | 'create' | 'manage' | 'unauthenticated' | 'public';
  readonly perMinute: number;
  readonly burst: number;
}

export type RatePolicies = Readonly<Record<RatePolicy['name'], RatePolicy>>;

export type RateSettings = Pick<
  Config,
  'RATE_READ_PER_MINUTE' | 'RATE_CREATE_PER_MINUTE' | 'RATE_MANAGE_PER_MINUTE' | 'RATE_PUBLIC_PER_MINUTE'
>;

/** Guesses at credentials: this part of what an address may send without any, a minute's worth at once. */
const UNAUTHENTICATED_PART = 20;

/**
 * The rates are settings, and a burst is a part of its rate: a page of a portal reads much at once, a batch creates in one go
 * and then waits, and those who manage click. A page of the documentation takes some ten requests.
 */
export const ratePolicies = (settings: RateSettings): RatePolicies => {
  const guesses = Math.ceil(settings.RATE_PUBLIC_PER_MINUTE / UNAUTHENTICATED_PART);
  return {
    read: policy('read', settings.RATE_READ_PER_MINUTE, 6),
    create: policy('create', settings.RATE_CREATE_PER_MINUTE, 3),
    manage: policy('manage', settings.RATE_MANAGE_PER_MINUTE, 2),
    unauthenticated: policy('unauthenticated', guesses, 1),
    public: policy('public', settings.RATE_PUBLIC_PER_MINUTE, 10),
  };
};

/** @param part the burst is `perMinute` divided by it, rounded up, so that it is 1 at least */
const policy = (name: RatePolicy['name'], perMinute: number, part: number): RatePolicy => ({
  name,
  perMinute,
  burst: Math.ceil(perMinute / part),
});

/** What became of a request, and the state of its bucket. */
export interface RateVerdict {
  readonly allowed: boolean;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Seconds until the bucket is full again, for `RateLimit: …;t=`. */
  readonly fullAfterSeconds: number;
  /** Seconds until a token is available, at least 1. */
  readonly retryAfterSeconds: number;
}

/** @param left tokens in the bucket, with fractions; below zero, what it owes */
export const verdictOf = (
  { perMinute, burst }: Pick<RatePolicy, 'perMinute' | 'burst'>,
  allowed: boolean,
  left: number,
): RateVerdict => ({
  allowed,
  remaining: Math.max(0, Math.floor(left)),
  fullAfterSeconds: Math.ceil((Math.max(0, burst - left) / perMinute) * 60),
  retryAfterSeconds: Math.max(1, Math.ceil(((1 - Math.min(1, left)) / perMinute) * 60)),
});

/** The refusal of a request whose bucket has no token. */
export const rateLimited = (
  { name, perMinute, burst }: RatePolicy,
  { retryAfterSeconds }: Pick<RateVerdict, 'retryAfterSeconds'>,
): Problem =>
  new Problem('rate_limited', {
    detail: `More than ${perMinute} requests a minute (${name}), or more than ${burst} at once`,
    headers: { 'Retry-After': String(retryAfterSeconds) },
  });
