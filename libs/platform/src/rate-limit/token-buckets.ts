import type { Pool } from 'pg';
import { forgetOlder } from '../retention/rows.js';
import type { RatePolicy } from './policies.js';

/** What a bucket gave. */
export interface Taken {
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
