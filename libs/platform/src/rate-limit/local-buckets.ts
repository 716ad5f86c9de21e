import { LRUCache } from 'lru-cache';
import { verdictOf, type RatePolicy, type RateVerdict } from './policies.js';

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
