import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { testPool } from '../../../../test/support/test-pool.js';
import { RateLimiter, type RatePolicy } from './rate-limiter.js';

const pool = testPool();
const limiter = new RateLimiter(pool);

const slow: RatePolicy = { name: 'create', perMinute: 1, burst: 20 };
const subject = (): string => randomUUID();

/** Sets the bucket's time back, as if it had been idle for this long. */
const age = (of: string, seconds: number) =>
  pool.query(
    'update platform.rate_bucket set refilled_at = refilled_at - make_interval(secs => $2) where subject = $1',
    [of, seconds],
  );

describe('The bucket that processes share', () => {
  it('gives its burst, then nothing until tokens flow in, and never more than its burst', async () => {
    const of = subject();
    // A token a minute: none flows in while a slow machine asks.
    const policy: RatePolicy = { name: 'read', perMinute: 1, burst: 3 };
    const granted = async () => {
      let count = 0;
      while ((await limiter.take(of, policy)).allowed) count += 1;
      return count;
    };
    expect(await granted()).toBe(3);
    await age(of, 120);
    expect(await granted()).toBe(2);
    await age(of, 3_600);
    expect(await granted()).toBe(3);
  });

  it('lets exactly the burst through, even if many processes ask at once', async () => {
    const of = subject();
    const processes = [1, 2, 3].map(() => new RateLimiter(pool));
    const verdicts = await Promise.all(
      Array.from({ length: 60 }, (_, n) => processes[n % 3]!.judge(of, slow)),
    );
    expect(verdicts.filter((verdict) => verdict?.allowed)).toHaveLength(20);
  });

  it('is one per subject and policy, and is forgotten after an idle hour', async () => {
    const [of, other] = [subject(), subject()];
    await limiter.charge(of, slow, 20);
    expect((await limiter.take(other, slow)).allowed).toBe(true);
    expect((await limiter.take(of, { ...slow, name: 'manage' })).allowed).toBe(true);
    expect((await limiter.take(of, slow)).allowed).toBe(false);
    await age(of, 3_700);
    expect(await limiter.forget(new AbortController().signal)).toBe(2);
  });

  it('owes what one request has asked for beyond its token, and gives none until it has flowed in', async () => {
    const of = subject();
    const policy: RatePolicy = { name: 'create', perMinute: 60, burst: 10 };
    const since = performance.now();
    expect((await limiter.take(of, policy)).allowed).toBe(true);
    const charged = await limiter.charge(of, policy, 29);
    expect(charged.remaining).toBe(0);
    expect(charged.fullAfterSeconds).toBeGreaterThan(20);
    const other = await limiter.take(of, policy);
    const passedSeconds = (performance.now() - since) / 1_000;
    expect(other).toMatchObject({ allowed: false, remaining: 0 });
    // Twenty that it owes, and its own.
    expect(other.retryAfterSeconds).toBeGreaterThanOrEqual(21 - passedSeconds);
    expect(other.retryAfterSeconds).toBeLessThanOrEqual(21);
  });

  it('takes back what was charged for nothing, and never more than its bucket holds', async () => {
    const of = subject();
    await limiter.take(of, slow);
    await limiter.charge(of, slow, 1_000);
    expect((await limiter.take(of, slow)).allowed).toBe(false);
    expect(await limiter.charge(of, slow, -1_000)).toMatchObject({ remaining: 19 });
    expect(await limiter.charge(of, slow, -1_000)).toMatchObject({ remaining: 20 });
    expect(await limiter.charge(subject(), slow, -1_000)).toMatchObject({ remaining: 20 });
  });
});
