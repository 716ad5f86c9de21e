/** What settings and programs without settings share. Loads no client. */
export const STORE_DEFAULTS = {
  /** Concurrent reads. The server takes 100 calls on a connection, subscriptions and appends included. */
  reads: 60,
  /** When calls fail for this long (ms) while a fresh connection gets answers, the store opens a new one. */
  stuckAfterMs: 15_000,
} as const;

/**
 * Most bytes of data and metadata in one append: EventStoreDB's default. KurrentDB 26 takes 256 MB, but another server to
 * which the log may move would refuse what this one took.
 */
export const MOST_APPEND_BYTES = 1_048_576;
