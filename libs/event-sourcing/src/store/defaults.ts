/** What settings and programs without settings share. Loads no client. */
export const STORE_DEFAULTS = {
  /** When calls fail for this long (ms) while a fresh connection gets answers, the store opens a new one. */
  stuckAfterMs: 2_500,
  /** A read from a server that sends events slowly fails after this many times the wait for one. */
  wholePageFactor: 10,
} as const;

/**
 * How soon a process leaves a node that has fallen silent (ms), when the address knows other nodes. They elect another
 * leader in about 3 s.
 */
export const CLUSTER_WATCH = { stuckAfterMs: 1_500, pingWithinMs: 500, quietMs: 250 } as const;

/**
 * Most bytes of data and metadata in one append: EventStoreDB's default. KurrentDB 26 takes 256 MB, but another server to
 * which the log may move would refuse what this one took.
 */
export const MOST_APPEND_BYTES = 1_048_576;
