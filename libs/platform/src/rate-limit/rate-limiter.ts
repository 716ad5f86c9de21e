import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import type { Clock } from '#event-sourcing/core/clock.js';
import { within } from '../async/within.js';
import { forgetOlder } from '../retention/rows.js';
import { LocalBuckets } from './local-buckets.js';
import type { RatePolicy } from './policies.js';

export interface RateVerdict {
  readonly allowed: boolean;
  /** Whole tokens left. */
  readonly remaining: number;
  /** Seconds until the bucket is full again, for `RateLimit: …;t=`. */
  readonly fullAfterSeconds: number;
  /** Seconds until a token is available, at least 1. */
  readonly retryAfterSeconds: number;
}

interface Share {
  /** Tokens taken in advance and not used yet. */
  tokens: number;
  /** State of the shared bucket at the last request to it. */
  left: number;
  until: number;
  /** Requests that wait for a token. */
  waiting: number;
  /** The statement under way, which says how many tokens it got. */
  asking: Promise<number> | null;
}

/** Longest wait for the database (ms). */
export const ASKED_WITHIN_MS = 300;
/** Maximum number of subjects to remember; a forgotten one simply asks the shared bucket again. */
const SHARES = 10_000;
/** How long tokens taken in advance stay usable (ms); then they are lost. */
const SHARE_MS = 1_000;
/**
 * Fraction of a second's inflow to take in advance: four processes that waste all of it waste no more than flows in.
 */
const ADVANCE = 1 / 4;

/**
 * Takes as many tokens from the shared buckets as requests are waiting, and a few in advance, so that a busy caller
 * costs an occasional statement instead of one per request. Tokens are taken before they are used, so the limit holds
 * across any number of processes.
 */
export class RateLimiter {
  private readonly shares = new LRUCache<string, Share>({ max: SHARES });
  private readonly here = new Map<RatePolicy, LocalBuckets>();

  constructor(
    private readonly buckets: Pick<TokenBuckets, 'take' | 'charge'>,
    private readonly clock: Clock,
  ) {}

  /**
   * Judges one more request. When the buckets do not answer in time, this process counts by itself: a caller's own load must
   * not lift its limit. @returns `null`: they did not answer, and the request passes
   */
  async judge(subject: string, policy: RatePolicy): Promise<RateVerdict | null> {
    const verdict = await within(ASKED_WITHIN_MS, this.take(subject, policy));
    if (verdict) return verdict;
    const buckets = this.here.get(policy) ?? new LocalBuckets(policy);
    this.here.set(policy, buckets);
    const seconds = buckets.take(subject);
    return seconds === 0
      ? null
      : { allowed: false, remaining: 0, fullAfterSeconds: seconds, retryAfterSeconds: seconds };
  }

  /** Takes one token. @throws what the buckets throw */
  async take(subject: string, policy: RatePolicy): Promise<RateVerdict> {
    const share = this.shareOf(`${policy.name} ${subject}`);
    share.waiting += 1;
    try {
      while (share.tokens < 1 || share.until <= this.clock.now()) {
        // One statement at a time: the next one covers all requests that arrive in the meantime.
        share.asking ??= this.ask(subject, policy, share).finally(() => (share.asking = null));
        if ((await share.asking) === 0) return verdict(false, share, policy);
      }
      share.tokens -= 1;
      return verdict(true, share, policy);
    } finally {
      share.waiting -= 1;
    }
  }

  /**
   * Counts work that one admitted request has asked for beyond its own token.
   * @param tokens below 0: gives them back
   * @returns the state after it
   * @throws what the buckets throw
   */
  async charge(subject: string, policy: RatePolicy, tokens: number): Promise<RateVerdict> {
    const share = this.shareOf(`${policy.name} ${subject}`);
    const inAdvance = Math.max(0, Math.min(tokens, share.tokens));
    share.tokens -= inAdvance;
    if (tokens !== inAdvance) share.left = await this.buckets.charge(subject, policy, tokens - inAdvance);
    return verdict(true, share, policy);
  }

  private shareOf(key: string): Share {
    const known = this.shares.get(key);
    if (known) return known;
    const share: Share = { tokens: 0, left: 0, until: 0, waiting: 0, asking: null };
    this.shares.set(key, share);
    return share;
  }

  private async ask(subject: string, policy: RatePolicy, share: Share): Promise<number> {
    const advance = Math.floor((policy.perMinute / 60) * ADVANCE);
    const { granted, left } = await this.buckets.take(subject, policy, share.waiting + advance);
    Object.assign(share, { tokens: granted, left, until: this.clock.now() + SHARE_MS });
    return granted;
  }
}

const verdict = (allowed: boolean, share: Share, { perMinute, burst }: RatePolicy): RateVerdict => {
  const perSecond = perMinute / 60;
  const left = share.left + share.tokens;
  return {
    allowed,
    remaining: Math.max(0, Math.floor(left)),
    fullAfterSeconds: Math.ceil(Math.max(0, burst - left) / perSecond),
    retryAfterSeconds: Math.max(1, Math.ceil((1 - Math.min(1, left)) / perSecond)),
  };
};

/** What a bucket gave. */
interface Taken {
  /** Tokens granted: as many as requested, or all that were left. */
  readonly granted: number;
  /** Tokens left, with fractions. */
  readonly left: number;
}

/** Buckets idle for longer than this are full again under every policy, and can be deleted. */
const FORGET_AFTER = '1 hour';

/** Token buckets in PostgreSQL: one statement refills a bucket by the database's clock and takes from it. */
export class TokenBuckets {
  constructor(private readonly pool: Pool) {}

  async take(subject: string, { name, perMinute, burst }: RatePolicy, wanted: number): Promise<Taken> {
    const { rows } = await this.pool.query<Taken>({
      name: 'rate-take',
      text: `insert into platform.rate_bucket as bucket (subject, policy, tokens, granted, refilled_at)
             values ($1, $2, $4::float8 - least($5::int, $4::int), least($5::int, $4::int), clock_timestamp())
             on conflict (subject, policy) do update set (tokens, granted, refilled_at) = (
               select refilled.tokens - taken.tokens, taken.tokens, greatest(bucket.refilled_at, clock_timestamp())
               from (select least($4::float8, bucket.tokens + $3::float8 / 60 *
                       greatest(0, extract(epoch from clock_timestamp() - bucket.refilled_at)::float8)) as tokens) refilled,
                    lateral (select greatest(0, least($5::int, floor(refilled.tokens)::int)) as tokens) taken)
             returning granted, tokens as left`,
      values: [subject, name, perMinute, burst, wanted],
    });
    return rows[0] ?? { granted: 0, left: 0 };
  }

  /**
   * Takes tokens even if they are not there: the bucket owes them, and gives none until they have flowed in.
   * @param tokens below 0: gives them back
   * @returns the tokens left, with fractions; below zero, what it owes
   */
  async charge(subject: string, { name, perMinute, burst }: RatePolicy, tokens: number): Promise<number> {
    const { rows } = await this.pool.query<Pick<Taken, 'left'>>({
      name: 'rate-charge',
      text: `insert into platform.rate_bucket as bucket (subject, policy, tokens, granted, refilled_at)
             values ($1, $2, least($4::float8, $4::float8 - $5::int), 0, clock_timestamp())
             on conflict (subject, policy) do update set (tokens, refilled_at) = (
               select least($4::float8, least($4::float8, bucket.tokens + $3::float8 / 60 *
                        greatest(0, extract(epoch from clock_timestamp() - bucket.refilled_at)::float8)) - $5::int),
                      greatest(bucket.refilled_at, clock_timestamp()))
             returning tokens as left`,
      values: [subject, name, perMinute, burst, tokens],
    });
    return rows[0]?.left ?? 0;
  }

  /** Deletes buckets that were idle for an hour. @returns how many */
  forget(signal: AbortSignal): Promise<number> {
    const buckets = { table: 'platform.rate_bucket', at: 'refilled_at' };
    return forgetOlder(this.pool, buckets, FORGET_AFTER, signal);
  }
}
