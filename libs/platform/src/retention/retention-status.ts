/** What the next round deletes. */
export interface Due {
  /** Counting stops at a million; of partitions, as PostgreSQL estimates. */
  readonly rows: number;
  /** On disk, indexes included; an estimate, exact for partitions. */
  readonly bytes: number;
  /** Whole partitions among it; `null`: the kind has none. */
  readonly partitions: number | null;
}

/** A kind of data that ends after a term. */
export interface RetentionStatus {
  readonly kind: string;
  readonly what: string;
  /** The setting that holds the term; null: it is constant. */
  readonly setting: string | null;
  readonly days: number;
  /** RFC 3339 UTC, as all instants here. `null`: nothing is kept. */
  readonly oldest: string | null;
  readonly due: Due;
  /** By how many whole days the oldest has outlived its term and its grace. */
  readonly lagDays: number;
  /** `null`: no round has ended yet. */
  readonly lastRun: { readonly at: string; readonly keptSince: string; readonly removedInAll: number } | null;
  /** The last round, if workers delete nothing until `ops retention run`, because it was more than a week ago. */
  readonly waitsSince: string | null;
  /** When the next round is expected; `null`: unknown. */
  readonly nextRun: string | null;
}

/** What a round has deleted. */
export interface RetentionRun {
  readonly kind: string;
  readonly keptSince: string;
  readonly removed: number;
}
