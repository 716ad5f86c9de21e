/** A map that forgets its oldest entry beyond its capacity. An entry that is set again keeps its age. */
export class BoundedMap<K, V> {
  private readonly entries = new Map<K, V>();
  /** Each look at the beginning of a `Map` walks over all entries deleted there. This one goes on where it was. */
  private readonly oldest = this.entries.keys();

  /** @param capacity at least 1 */
  constructor(private readonly capacity: number) {}

  get(key: K): V | undefined {
    return this.entries.get(key);
  }

  set(key: K, value: V): void {
    this.entries.set(key, value);
    // It never reaches its end: the entry just set comes later.
    if (this.entries.size > this.capacity) this.entries.delete(this.oldest.next().value as K);
  }
}
