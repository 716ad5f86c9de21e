const BUCKETS = 64;
const EMPTY: ReadonlyMap<string, never> = new Map<string, never>();

/**
 * A map that is never changed in place. A change copies one of 64 buckets and shares the rest, so that folding a ledger
 * with thousands of open holds does not copy them all at every event.
 */
export type BucketMap<V> = readonly ReadonlyMap<string, V>[];

export const bucketMap = <V>(entries: Iterable<readonly [string, V]> = []): BucketMap<V> => {
  const buckets = new Array<ReadonlyMap<string, V>>(BUCKETS).fill(EMPTY);
  const own = new Map<number, Map<string, V>>();
  for (const [key, value] of entries) {
    const index = bucketOf(key);
    const bucket = own.get(index) ?? new Map<string, V>();
    buckets[index] = bucket.set(key, value);
    own.set(index, bucket);
  }
  return buckets;
};

export const getFrom = <V>(map: BucketMap<V>, key: string): V | undefined => map[bucketOf(key)]!.get(key);

export const withEntry = <V>(map: BucketMap<V>, key: string, value: V): BucketMap<V> =>
  map.with(bucketOf(key), new Map(map[bucketOf(key)]).set(key, value));

export const withoutEntry = <V>(map: BucketMap<V>, key: string): BucketMap<V> => {
  const bucket = new Map(map[bucketOf(key)]);
  bucket.delete(key);
  return map.with(bucketOf(key), bucket);
};

const sortedEntries = <V>(map: BucketMap<V>): [string, V][] =>
  map.flatMap((bucket) => [...bucket]).sort(([a], [b]) => (a < b ? -1 : 1));

/** Sorted, so that equal maps list equally. */
export const keysOf = (map: BucketMap<unknown>): string[] => sortedEntries(map).map(([key]) => key);

/** In the order of their keys. */
export const valuesOf = <V>(map: BucketMap<V>): V[] => sortedEntries(map).map(([, value]) => value);

/** FNV-1a over UTF-16 code units. */
const bucketOf = (key: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) % BUCKETS;
};
