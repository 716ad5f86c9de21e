import { LRUCache } from 'lru-cache';
import type { LogStore } from '../log/log-store.js';
import type { StreamHead } from './stream-head.js';

/** Number of heads cached in memory, in addition to those not yet durable (about 200 bytes each). */
const CACHED_HEADS = 50_000;

/**
 * The latest decided heads, durable or not, as the writer sees them. Heads that are not yet durable are
 * pinned; the others form a bounded cache of the store.
 */
export class HeadCache {
  private readonly pending = new Map<string, StreamHead>();
  private readonly settled = new LRUCache<string, StreamHead>({ max: CACHED_HEADS });

  constructor(private readonly store: LogStore) {}

  get(name: string): StreamHead | undefined {
    const known = this.pending.get(name) ?? this.settled.get(name);
    if (known) return known;
    const loaded = this.store.head(name);
    if (loaded) this.settled.set(name, loaded);
    return loaded;
  }

  /** Adds a decided head. It stays pinned until `release` is called with the same object. */
  set(head: StreamHead): void {
    this.pending.set(head.name, head);
  }

  /** Called when a head is durable. */
  release(head: StreamHead): void {
    if (this.pending.get(head.name) !== head) return;
    this.pending.delete(head.name);
    this.settled.set(head.name, head);
  }
}
