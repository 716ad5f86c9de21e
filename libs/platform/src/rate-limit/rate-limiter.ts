import type { Config } from '../config/settings.js';
import { Problem } from '../http/problem.js';
import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import { within } from '../async/within.js';
import { askedTogether } from '../postgres/asked-together.js';
import { forgetOlder } from '../retention/rows.js';

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

  /** Takes tokens of this caller, if there is one: it owes the others. @param caller an address, or the subject of a limit */
  take(caller: string, tokens = 1): RateVerdict {
    const available = this.available(caller);
    const allowed = available >= 1;
    return verdictOf(this.policy, allowed, allowed ? this.owe(caller, tokens) : available);
  }

  /** Takes tokens even if they are not there. @param tokens below 0: gives them back @returns those that are left */
  owe(caller: string, tokens: number): number {
    const left = Math.min(this.policy.burst, this.available(caller) - tokens);
    this.buckets.set(caller, { tokens: left, at: this.now() });
    return left;
  }

  private available(caller: string): number {
    const { perMinute, burst } = this.policy;
    const known = this.buckets.get(caller);
    return known ? Math.min(burst, known.tokens + ((this.now() - known.at) / 60_000) * perMinute) : burst;
  }
}

interface Question {
  readonly subject: string;
  readonly policy: RatePolicy;
}

interface Asked extends Question {
  readonly tokens: number;
  /** They are taken even if they are not there. */
  readonly mayOwe: boolean;
}

interface Bucketful {
  granted: number;
  /** Tokens left, with fractions; below zero, what the bucket owes. */
  readonly left: number;
}

const keyOf = ({ subject, policy }: Question): string => `${policy.name} ${subject}`;

/**
 * Token buckets in this process, and in PostgreSQL for all processes: one statement refills buckets by the database's clock
 * and takes from them. Requests that arrive together share a statement.
 */
export class RateLimiter {
  private readonly here = new Map<RatePolicy, LocalBuckets>();
  private readonly takeOne = askedTogether((requests: readonly Question[]) => this.takeAll(requests));

  constructor(private readonly pool: Pick<Pool, 'query'>) {}

  /**
   * Judges one more request, first by what this process has let through: a flood costs no statement, and a caller whose
   * load slows the database does not lift its own limit. What a request takes beyond a token counts at once in this
   * process, so that a burst of costly requests is bounded as well.
   * @param tokens that it takes; it needs one, and owes the others
   * @returns `null`: PostgreSQL did not answer in time, and the request passes
   */
  async judge(subject: string, policy: RatePolicy, tokens = 1): Promise<RateVerdict | null> {
    const own = this.local(policy).take(subject, tokens);
    if (!own.allowed) return own;
    const verdict = await within(ASKED_WITHIN_MS, this.take(subject, policy));
    if (!verdict?.allowed || tokens === 1) return verdict;
    return (await within(ASKED_WITHIN_MS, this.chargeAll(subject, policy, tokens - 1))) ?? verdict;
  }

  /** Takes one token from the shared bucket, if there is one. @throws what PostgreSQL's client throws */
  take(subject: string, policy: RatePolicy): Promise<RateVerdict> {
    return this.takeOne({ subject, policy });
  }

  /**
   * Counts work that one admitted request has asked for beyond its own token, even if there are no tokens: the bucket owes
   * them, and gives none until they have flowed in.
   * @param tokens below 0: gives them back
   * @returns the state after it
   * @throws what PostgreSQL's client throws
   */
  charge(subject: string, policy: RatePolicy, tokens: number): Promise<RateVerdict> {
    this.local(policy).owe(subject, tokens);
    return this.chargeAll(subject, policy, tokens);
  }

  private local(policy: RatePolicy): LocalBuckets {
    const buckets = this.here.get(policy) ?? new LocalBuckets(policy);
    this.here.set(policy, buckets);
    return buckets;
  }

  private async chargeAll(subject: string, policy: RatePolicy, tokens: number): Promise<RateVerdict> {
    const [bucket] = await this.ask([{ subject, policy, tokens, mayOwe: true }]);
    return verdictOf(policy, true, bucket!.left);
  }

  /** Takes a token for each, of which some may be of one bucket. */
  private async takeAll(requests: readonly Question[]): Promise<readonly RateVerdict[]> {
    const wanted = new Map<string, Asked>();
    for (const request of requests) {
      const known = wanted.get(keyOf(request));
      wanted.set(keyOf(request), { ...request, tokens: (known?.tokens ?? 0) + 1, mayOwe: false });
    }
    const found = await this.ask([...wanted.values()]);
    const buckets = new Map([...wanted.keys()].map((key, place) => [key, { ...found[place]! }]));
    return requests.map((request) => {
      const bucket = buckets.get(keyOf(request))!;
      const isGranted = bucket.granted > 0;
      if (isGranted) bucket.granted -= 1;
      // As if one had been asked for after the other.
      return verdictOf(request.policy, isGranted, bucket.left + bucket.granted);
    });
  }

  /** @param asked of different buckets @returns in their order */
  private async ask(asked: readonly Asked[]): Promise<readonly Bucketful[]> {
    const ordered = asked.toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1));
    const { rows } = await this.pool.query<Bucketful & { subject: string; policy: string }>({
      name: 'rate-take',
      text: `with asked as (
               select * from unnest($1::text[], $2::text[], $3::float8[], $4::float8[], $5::int[], $6::boolean[])
                 as asked (subject, policy, per_minute, burst, tokens, may_owe)
             )
             insert into platform.rate_bucket as bucket (subject, policy, tokens, granted, refilled_at)
             select subject, policy, least(burst, burst - taken.tokens), taken.tokens, clock_timestamp()
             from asked, lateral (
               select case when may_owe then tokens else least(tokens, burst::int) end as tokens) taken
             on conflict (subject, policy) do update set (tokens, granted, refilled_at) = (
               select least(asked.burst, refilled.tokens - taken.tokens), taken.tokens,
                      greatest(bucket.refilled_at, clock_timestamp())
               from asked,
                    lateral (select least(asked.burst, bucket.tokens + asked.per_minute / 60 *
                       greatest(0, extract(epoch from clock_timestamp() - bucket.refilled_at)::float8)) as tokens) refilled,
                    lateral (select case when asked.may_owe then asked.tokens
                       else greatest(0, least(asked.tokens, floor(refilled.tokens)::int)) end as tokens) taken
               where asked.subject = bucket.subject and asked.policy = bucket.policy)
             returning subject, policy, granted, tokens as left`,
      // In one order, so that two processes do not wait for each other.
      values: [
        ordered.map(({ subject }) => subject),
        ordered.map(({ policy }) => policy.name),
        ordered.map(({ policy }) => policy.perMinute),
        ordered.map(({ policy }) => policy.burst),
        ordered.map(({ tokens }) => tokens),
        ordered.map(({ mayOwe }) => mayOwe),
      ],
    });
    const buckets = new Map(rows.map((row) => [`${row.policy} ${row.subject}`, row]));
    return asked.map((one) => buckets.get(keyOf(one))!);
  }

  /** Deletes buckets that were idle for an hour. @returns how many */
  forget(signal: AbortSignal): Promise<number> {
    const buckets = { table: 'platform.rate_bucket', at: 'refilled_at' };
    return forgetOlder(this.pool, buckets, FORGET_AFTER, signal);
  }
}
