import type { LogStore } from '../log/log-store.js';
import type { StreamHead } from './stream-head.js';

/** Heads kept in memory besides those not durable yet (about 200 bytes each). */
const CACHED_HEADS = 50_000;

/**
 * Heads as the writer sees them: the latest decided ones, durable or not. Those not durable yet are pinned; the
 * others are a bounded cache of the store.
 */
export class HeadCache {
  private readonly pending = new Map<string, StreamHead>();
  private readonly settled = new Map<string, StreamHead>();

  constructor(private readonly store: LogStore) {}

  get(name: string): StreamHead | undefined {
    const known = this.pending.get(name) ?? this.settled.get(name);
    if (known) return known;
    const loaded = this.store.head(name);
    if (loaded) this.keep(loaded);
    return loaded;
  }

  /** Takes a decided head; it stays pinned until `release` is called with the same object. */
  set(head: StreamHead): void {
    this.pending.set(head.name, head);
  }

  /** Called when a head is durable. */
  release(head: StreamHead): void {
    if (this.pending.get(head.name) !== head) return;
    this.pending.delete(head.name);
    this.keep(head);
  }

  private keep(head: StreamHead): void {
    this.settled.delete(head.name);
    this.settled.set(head.name, head);
    if (this.settled.size <= CACHED_HEADS) return;
    const oldest = this.settled.keys().next();
    if (!oldest.done) this.settled.delete(oldest.value);
  }
}
