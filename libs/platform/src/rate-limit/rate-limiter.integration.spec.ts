import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { freshDatabase } from '../../../../test/support/fresh-database.js';
import type { StartedPostgres } from '../../../../test/support/start-postgres.js';
import type { RatePolicy } from './policies.js';
import { RateLimiter, TokenBuckets } from './rate-limiter.js';

let database: StartedPostgres;
let pool: pg.Pool;
let buckets: TokenBuckets;

beforeAll(async () => {
  database = await freshDatabase();
  pool = new pg.Pool({ connectionString: database.databaseUrl, max: 4 });
  buckets = new TokenBuckets(pool);
});

afterAll(async () => {
  await pool.end();
  await database.stop();
});

const slow: RatePolicy = { name: 'create', perMinute: 1, burst: 20 };
const clock = { now: () => Date.now() };
const subject = (): string => randomUUID();

/** Sets the bucket's time back, as if it had been idle for this long. */
const age = (of: string, seconds: number) =>
  pool.query(
    'update platform.rate_bucket set refilled_at = refilled_at - make_interval(secs => $2) where subject = $1',
    [of, seconds],
  );

describe('A token bucket', () => {
  it('gives its burst at once, then nothing until tokens flow in, and never exceeds its burst', async () => {
    const of = subject();
    // A token a minute: none flows in while a slow machine asks.
    const policy: RatePolicy = { name: 'read', perMinute: 1, burst: 5 };
    expect(await buckets.take(of, policy, 3)).toMatchObject({ granted: 3 });
    expect(await buckets.take(of, policy, 3)).toMatchObject({ granted: 2 });
    expect(await buckets.take(of, policy, 1)).toMatchObject({ granted: 0 });
    await age(of, 120);
    expect(await buckets.take(of, policy, 9)).toMatchObject({ granted: 2 });
    await age(of, 3_600);
    expect(await buckets.take(of, policy, 9)).toMatchObject({ granted: 5 });
  });

  it('is one per subject and policy, and is forgotten after an idle hour', async () => {
    const [of, other] = [subject(), subject()];
    await buckets.take(of, slow, 20);
    expect(await buckets.take(other, slow, 1)).toMatchObject({ granted: 1 });
    expect(await buckets.take(of, { ...slow, name: 'manage' }, 1)).toMatchObject({ granted: 1 });
    await age(of, 3_700);
    expect(await buckets.forget(new AbortController().signal)).toBe(2);
  });
});

describe('The rate limiter', () => {
  it('lets exactly the burst through, even if many processes ask at once', async () => {
    const of = subject();
    const processes = [1, 2, 3].map(() => new RateLimiter(buckets, clock));
    const verdicts = await Promise.all(
      Array.from({ length: 300 }, (_, n) => processes[n % 3]!.take(of, slow)),
    );
    expect(verdicts.filter(({ allowed }) => allowed)).toHaveLength(20);
  });

  it('asks once for requests that wait together, and uses tokens taken in advance for a second', async () => {
    let asked = 0;
    const counting = {
      take: (...args: Parameters<TokenBuckets['take']>) => {
        asked += 1;
        return buckets.take(...args);
      },
      charge: () => Promise.resolve(0),
    };
    let now = 0;
    const limiter = new RateLimiter(counting, { now: () => now });
    const of = subject();
    const busy: RatePolicy = { name: 'read', perMinute: 1_200, burst: 200 };
    const verdicts = await Promise.all(Array.from({ length: 100 }, () => limiter.take(of, busy)));
    expect(verdicts.every(({ allowed }) => allowed)).toBe(true);
    expect(asked).toBeLessThanOrEqual(3);
    const before = asked;
    await limiter.take(of, busy);
    expect(asked).toBe(before);
    now = 1_000;
    await limiter.take(of, busy);
    expect(asked).toBe(before + 1);
  });

  it('owes what one request has asked for beyond its token, and gives none until it has flowed in', async () => {
    const limiter = new RateLimiter(buckets, clock);
    const of = subject();
    const policy: RatePolicy = { name: 'create', perMinute: 60, burst: 10 };
    const since = performance.now();
    expect((await limiter.take(of, policy)).allowed).toBe(true);
    const charged = await limiter.charge(of, policy, 29);
    expect(charged.remaining).toBe(0);
    expect(charged.fullAfterSeconds).toBeGreaterThan(20);
    const other = await new RateLimiter(buckets, clock).take(of, policy);
    const passedSeconds = (performance.now() - since) / 1_000;
    expect(other).toMatchObject({ allowed: false, remaining: 0 });
    // Twenty that it owes, and its own.
    expect(other.retryAfterSeconds).toBeGreaterThanOrEqual(21 - passedSeconds);
    expect(other.retryAfterSeconds).toBeLessThanOrEqual(21);
    expect((await limiter.take(subject(), policy)).allowed).toBe(true);
  });

  it('takes back what was charged for nothing, and never more than its bucket holds', async () => {
    const limiter = new RateLimiter(buckets, clock);
    const of = subject();
    await limiter.take(of, slow);
    await limiter.charge(of, slow, 1_000);
    expect((await limiter.take(of, slow)).allowed).toBe(false);
    expect(await limiter.charge(of, slow, -1_000)).toMatchObject({ remaining: 19 });
    expect(await limiter.charge(of, slow, -1_000)).toMatchObject({ remaining: 20 });
    expect(await limiter.charge(subject(), slow, -1_000)).toMatchObject({ remaining: 20 });
  });
});
