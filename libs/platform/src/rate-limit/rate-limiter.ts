import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import { within } from '../async/within.js';
import { forgetOlder } from '../retention/rows.js';
import { verdictOf, type RatePolicy, type RateVerdict } from './policies.js';

/** Longest wait for the database (ms). */
export const ASKED_WITHIN_MS = 300;

/** Buckets idle for longer than this are full again under every policy, and can be deleted. */
const FORGET_AFTER = '1 hour';

interface Bucket {
  readonly tokens: number;
  /** When `tokens` was current (ms). */
  readonly at: number;
}

/** Callers that a process counts, the last seen: 4 MB. A flood from more is a matter for the network in front. */
const CALLERS = 20_000;

/** Token buckets in the memory of one process, for decisions that must not need I/O. */
export class LocalBuckets {
  private readonly buckets: LRUCache<string, Bucket>;

  /** @param now milliseconds of a monotonic clock */
  constructor(
    private readonly policy: Pick<RatePolicy, 'perMinute' | 'burst'>,
    capacity = CALLERS,
    private readonly now: () => number = () => performance.now(),
  ) {
    this.buckets = new LRUCache({ max: capacity });
  }

  /** Takes a token of this caller, if there is one. @param caller an address, or the subject of a limit */
  take(caller: string): RateVerdict {
    const { perMinute, burst } = this.policy;
    const at = this.now();
    const known = this.buckets.get(caller);
    const tokens = known ? Math.min(burst, known.tokens + ((at - known.at) / 60_000) * perMinute) : burst;
    const allowed = tokens >= 1;
    const left = allowed ? tokens - 1 : tokens;
    this.buckets.set(caller, { tokens: left, at });
    return verdictOf(this.policy, allowed, left);
  }
}

/**
 * Token buckets in this process, and in PostgreSQL for all processes: one statement refills a bucket by the database's
 * clock and takes from it.
 */
export class RateLimiter {
  private readonly here = new Map<RatePolicy, LocalBuckets>();

  constructor(private readonly pool: Pick<Pool, 'query'>) {}

  /**
   * Judges one more request, first by what this process has let through: a flood costs no statement, and a caller whose
   * load slows the database does not lift its own limit.
   * @returns `null`: PostgreSQL did not answer in time, and the request passes
   */
  async judge(subject: string, policy: RatePolicy): Promise<RateVerdict | null> {
    const buckets = this.here.get(policy) ?? new LocalBuckets(policy);
    this.here.set(policy, buckets);
    const own = buckets.take(subject);
    return own.allowed ? within(ASKED_WITHIN_MS, this.take(subject, policy)) : own;
  }

  /** Takes one token from the shared bucket, if there is one. @throws what PostgreSQL's client throws */
  take(subject: string, policy: RatePolicy): Promise<RateVerdict> {
    return this.ask(subject, policy, 1, false);
  }

  /**
   * Counts work that one admitted request has asked for beyond its own token, even if there are no tokens: the bucket owes
   * them, and gives none until they have flowed in.
   * @param tokens below 0: gives them back
   * @returns the state after it
   * @throws what PostgreSQL's client throws
   */
  charge(subject: string, policy: RatePolicy, tokens: number): Promise<RateVerdict> {
    return this.ask(subject, policy, tokens, true);
  }

  private async ask(
    subject: string,
    policy: RatePolicy,
    tokens: number,
    mayOwe: boolean,
  ): Promise<RateVerdict> {
    const { rows } = await this.pool.query<{ granted: number; left: number }>({
      name: 'rate-take',
      text: `insert into platform.rate_bucket as bucket (subject, policy, tokens, granted, refilled_at)
             values ($1, $2, least($4::float8, $4::float8 - $5::int), $5::int, clock_timestamp())
             on conflict (subject, policy) do update set (tokens, granted, refilled_at) = (
               select least($4::float8, refilled.tokens - taken.tokens), taken.tokens,
                      greatest(bucket.refilled_at, clock_timestamp())
               from (select least($4::float8, bucket.tokens + $3::float8 / 60 *
                       greatest(0, extract(epoch from clock_timestamp() - bucket.refilled_at)::float8)) as tokens) refilled,
                    lateral (select case when $6::boolean or refilled.tokens >= 1 then $5::int else 0 end as tokens) taken)
             returning granted, tokens as left`,
      values: [subject, policy.name, policy.perMinute, policy.burst, tokens, mayOwe],
    });
    const { granted, left } = rows[0]!;
    return verdictOf(policy, mayOwe || granted === 1, left);
  }

  /** Deletes buckets that were idle for an hour. @returns how many */
  forget(signal: AbortSignal): Promise<number> {
    const buckets = { table: 'platform.rate_bucket', at: 'refilled_at' };
    return forgetOlder(this.pool, buckets, FORGET_AFTER, signal);
  }
}
