const CHUNK = 256;
const CHUNKS = 16;

/** Ids remembered: 4,096 at most, 3,841 at least once that many were added. */
export const RECENT_IDS = CHUNK * CHUNKS;

/**
 * The ids added last, in chunks from newest to oldest. Never changed in place: adding copies the newest chunk only, and
 * drops the oldest chunk when there are too many.
 */
export type RecentIds = readonly ReadonlySet<string>[];

export const remember = (recent: RecentIds, id: string): RecentIds => {
  const [newest, ...older] = recent;
  if (newest && newest.size < CHUNK) return [new Set(newest).add(id), ...older];
  return [new Set([id]), ...recent.slice(0, CHUNKS - 1)];
};

export const isRecent = (recent: RecentIds, id: string): boolean => recent.some((chunk) => chunk.has(id));

/** Oldest first. */
export const listRecent = (recent: RecentIds): string[] => recent.toReversed().flatMap((chunk) => [...chunk]);

export const recentFrom = (ids: readonly string[]): RecentIds => ids.reduce(remember, [] as RecentIds);
