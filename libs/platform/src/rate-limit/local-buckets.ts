import { LRUCache } from 'lru-cache';
import type { RatePolicy } from './policies.js';

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

  /** Takes a token of this caller: an address, or the subject of a limit. @returns 0, or the whole seconds until one is available */
  take(caller: string): number {
    const { perMinute, burst } = this.policy;
    const at = this.now();
    const known = this.buckets.get(caller);
    const tokens = known ? Math.min(burst, known.tokens + ((at - known.at) / 60_000) * perMinute) : burst;
    const isGiven = tokens >= 1;
    this.buckets.set(caller, { tokens: isGiven ? tokens - 1 : tokens, at });
    return isGiven ? 0 : Math.max(1, Math.ceil(((1 - tokens) / perMinute) * 60));
  }
}
