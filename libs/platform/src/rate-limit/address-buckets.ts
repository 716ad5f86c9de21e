import type { RatePolicy } from './policies.js';

interface Bucket {
  tokens: number;
  /** When `tokens` was current (ms). */
  at: number;
}

/** How many buckets, oldest first, to check for one to forget: one empty bucket must not keep all others. */
const LOOKED_AT = 16;

/** Milliseconds of a monotonic clock. */
type Now = () => number;

/**
 * Token buckets of addresses in the memory of one process, for decisions that must not need I/O. The number of buckets
 * is bounded. A full bucket can be forgotten without loss; when there is none, new addresses share one bucket.
 */
export class AddressBuckets {
  /** Least recently used first. */
  private readonly buckets = new Map<string, Bucket>();
  private readonly ofOthers: Bucket;

  constructor(
    private readonly policy: Pick<RatePolicy, 'perMinute' | 'burst'>,
    private readonly capacity: number,
    private readonly now: Now = () => performance.now(),
  ) {
    this.ofOthers = { tokens: policy.burst, at: now() };
  }

  /** Takes a token of this address. @returns 0, or the whole seconds until one is available */
  take(address: string): number {
    const bucket = this.of(address);
    this.fill(bucket);
    if (bucket.tokens >= 1) {
      bucket.tokens -= 1;
      return 0;
    }
    return Math.max(1, Math.ceil(((1 - bucket.tokens) / this.policy.perMinute) * 60));
  }

  get size(): number {
    return this.buckets.size;
  }

  private of(address: string): Bucket {
    const known = this.buckets.get(address);
    if (known) {
      this.buckets.delete(address);
      this.buckets.set(address, known);
      return known;
    }
    if (this.buckets.size >= this.capacity && !this.forgetOne()) return this.ofOthers;
    const bucket = { tokens: this.policy.burst, at: this.now() };
    this.buckets.set(address, bucket);
    return bucket;
  }

  private forgetOne(): boolean {
    let looked = 0;
    for (const [address, bucket] of this.buckets) {
      this.fill(bucket);
      if (bucket.tokens >= this.policy.burst) return this.buckets.delete(address);
      looked += 1;
      if (looked === LOOKED_AT) break;
    }
    return false;
  }

  private fill(bucket: Bucket): void {
    const now = this.now();
    const inflow = ((now - bucket.at) / 60_000) * this.policy.perMinute;
    bucket.tokens = Math.min(this.policy.burst, bucket.tokens + inflow);
    bucket.at = now;
  }
}
