import { bucketMap, getFrom, keysOf, withEntry, type BucketMap } from './bucket-map.js';

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
