interface Entry<K, V> {
  readonly key: K;
  value: V;
  older: Entry<K, V>;
  newer: Entry<K, V>;
}

/**
 * A map that forgets the least recently used entry beyond its capacity. A linked list keeps the order. In a large `Map`,
 * to delete a key and set it again leaves a trail that each look-up walks: tens of microseconds for a busy key.
 */
export class RecentlyUsed<K, V> {
  private readonly entries = new Map<K, Entry<K, V>>();
  /** The ring's seam: the oldest entry follows it, the newest precedes it. */
  private readonly seam = {} as Entry<K, V>;

  constructor(private readonly capacity: number) {
    this.seam.older = this.seam.newer = this.seam;
  }

  get(key: K): V | undefined {
    const entry = this.entries.get(key);
    if (!entry) return undefined;
    unlink(entry);
    this.append(entry);
    return entry.value;
  }

  set(key: K, value: V): void {
    if (this.capacity === 0) return;
    const known = this.entries.get(key);
    if (known) {
      known.value = value;
      unlink(known);
      this.append(known);
      return;
    }
    const entry = { key, value, older: this.seam, newer: this.seam };
    this.entries.set(key, entry);
    this.append(entry);
    if (this.entries.size > this.capacity) this.delete(this.seam.newer.key);
  }

  delete(key: K): void {
    const entry = this.entries.get(key);
    if (!entry) return;
    unlink(entry);
    this.entries.delete(key);
  }

  private append(entry: Entry<K, V>): void {
    entry.older = this.seam.older;
    entry.newer = this.seam;
    entry.older.newer = entry;
    this.seam.older = entry;
  }
}

const unlink = <K, V>({ older, newer }: Entry<K, V>): void => {
  older.newer = newer;
  newer.older = older;
};
