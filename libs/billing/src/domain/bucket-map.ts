const BUCKETS = 64;

type Entry<V> = readonly [key: string, value: V];

/**
 * An immutable map. A change copies one of 64 buckets and shares the rest, so that folding a ledger with thousands of
 * open holds does not copy them all at every event.
 *
 * A bucket is a list sorted by key. It copies faster than a hash table and allows binary search. Equal maps are equal
 * in every part.
 */
export type BucketMap<V> = readonly (readonly Entry<V>[])[];

export const bucketMap = <V>(entries: readonly Entry<V>[] = []): BucketMap<V> => {
  const buckets = Array.from({ length: BUCKETS }, (): Entry<V>[] => []);
  for (const entry of entries.toSorted(byKey)) buckets[bucketOf(entry[0])]!.push(entry);
  return buckets;
};

export const getFrom = <V>(map: BucketMap<V>, key: string): V | undefined => {
  const bucket = map[bucketOf(key)]!;
  const entry = bucket[placeOf(bucket, key)];
  return entry?.[0] === key ? entry[1] : undefined;
};

export const withEntry = <V>(map: BucketMap<V>, key: string, value: V): BucketMap<V> => {
  const index = bucketOf(key);
  const bucket = map[index]!;
  const place = placeOf(bucket, key);
  const replaced = bucket[place]?.[0] === key ? 1 : 0;
  return map.with(index, bucket.toSpliced(place, replaced, [key, value]));
};

export const withoutEntry = <V>(map: BucketMap<V>, key: string): BucketMap<V> => {
  const index = bucketOf(key);
  const bucket = map[index]!;
  const place = placeOf(bucket, key);
  return bucket[place]?.[0] === key ? map.with(index, bucket.toSpliced(place, 1)) : map;
};

/** Index of the key in its bucket, or where it would be inserted: the number of smaller keys. */
const placeOf = (bucket: readonly Entry<unknown>[], key: string): number => {
  let [from, to] = [0, bucket.length];
  while (from < to) {
    const middle = (from + to) >>> 1;
    if (bucket[middle]![0] < key) from = middle + 1;
    else to = middle;
  }
  return from;
};

/** In key order. */
export const keysOf = (map: BucketMap<unknown>): string[] => sortedEntries(map).map(([key]) => key);

/** In key order. */
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

/** Ids of one generation. Between this many and twice as many are remembered. */
export const GENERATION = 2_048;

/**
 * The ids added last, in two generations. When the newer generation is full, it becomes the older one, and the previous
 * older one is dropped. Immutable.
 */
export interface RecentIds {
  readonly older: BucketMap<true>;
  readonly newer: BucketMap<true>;
  /** Ids in the newer generation. */
  readonly size: number;
}

export const noRecentIds: RecentIds = { older: bucketMap(), newer: bucketMap(), size: 0 };

export const remember = ({ older, newer, size }: RecentIds, id: string): RecentIds =>
  size < GENERATION
    ? { older, newer: withEntry(newer, id, true), size: size + 1 }
    : { older: newer, newer: withEntry(noRecentIds.newer, id, true), size: 1 };

export const isRecent = ({ older, newer }: RecentIds, id: string): boolean =>
  (getFrom(newer, id) ?? getFrom(older, id)) !== undefined;

/** Both generations as sorted lists, and back. */
export const listRecent = ({ older, newer }: RecentIds): { older: string[]; newer: string[] } => ({
  older: keysOf(older),
  newer: keysOf(newer),
});

export const recentFrom = (lists: { older: readonly string[]; newer: readonly string[] }): RecentIds => ({
  older: members(lists.older),
  newer: members(lists.newer),
  size: lists.newer.length,
});

const members = (ids: readonly string[]): BucketMap<true> => bucketMap(ids.map((id) => [id, true] as const));
