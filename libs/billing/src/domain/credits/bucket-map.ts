const BUCKETS = 64;

type Entry<V> = readonly [key: string, value: V];

/**
 * A map that is never changed in place. A change copies one of 64 buckets and shares the rest, so that folding a ledger
 * with thousands of open holds does not copy them all at every event. A bucket is a list in the order of its keys: it is
 * copied and searched faster than a hash table is copied, and equal maps are equal in every part.
 */
export type BucketMap<V> = readonly (readonly Entry<V>[])[];

export const bucketMap = <V>(entries: readonly Entry<V>[] = []): BucketMap<V> => {
  const buckets = Array.from({ length: BUCKETS }, (): Entry<V>[] => []);
  for (const entry of entries.toSorted(byKey)) buckets[bucketOf(entry[0])]!.push(entry);
  return buckets;
};

export const getFrom = <V>(map: BucketMap<V>, key: string): V | undefined =>
  map[bucketOf(key)]!.find((entry) => entry[0] === key)?.[1];

export const withEntry = <V>(map: BucketMap<V>, key: string, value: V): BucketMap<V> => {
  const index = bucketOf(key);
  const others = map[index]!.filter((entry) => entry[0] !== key);
  const at = others.findIndex((entry) => entry[0] > key);
  others.splice(at < 0 ? others.length : at, 0, [key, value]);
  return map.with(index, others);
};

export const withoutEntry = <V>(map: BucketMap<V>, key: string): BucketMap<V> => {
  const index = bucketOf(key);
  return map.with(
    index,
    map[index]!.filter((entry) => entry[0] !== key),
  );
};

/** In order. */
export const keysOf = (map: BucketMap<unknown>): string[] => sortedEntries(map).map(([key]) => key);

/** In the order of their keys. */
export const valuesOf = <V>(map: BucketMap<V>): V[] => sortedEntries(map).map(([, value]) => value);

const byKey = ([a]: Entry<unknown>, [b]: Entry<unknown>): number => (a < b ? -1 : 1);

const sortedEntries = <V>(map: BucketMap<V>): Entry<V>[] => map.flat().sort(byKey);

/** FNV-1a over UTF-16 code units. */
const bucketOf = (key: string): number => {
  let hash = 0x811c9dc5;
  for (let index = 0; index < key.length; index += 1) {
    hash = Math.imul(hash ^ key.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 0) % BUCKETS;
};
