import type { FilterExpression } from '../reading/filter.js';

/** How a group spreads events over its consumers. */
export const CONSUMER_STRATEGIES = ['DispatchToSingle', 'RoundRobin', 'Pinned'] as const;
export type ConsumerStrategy = (typeof CONSUMER_STRATEGIES)[number];

export interface GroupSettings {
  readonly resolveLinks: boolean;
  readonly extraStatistics: boolean;
  readonly maxRetryCount: number;
  /** Unanswered after this long, an event is given out again; 0 never. */
  readonly messageTimeoutMs: number;
  /** A checkpoint is written after this long if at least `minCheckpointCount` events were processed … */
  readonly checkpointAfterMs: number;
  readonly minCheckpointCount: number;
  /** … and at once when this many were. */
  readonly maxCheckpointCount: number;
  /** 0: as many as wish. */
  readonly maxSubscriberCount: number;
  /** Kept and told; history and live come one way here, bounded by `historyBufferSize`. */
  readonly liveBufferSize: number;
  readonly readBatchSize: number;
  readonly historyBufferSize: number;
  readonly strategy: ConsumerStrategy;
}

/** Name of the event source of groups that follow the whole log. */
export const ALL = '$all';

/** A group as it is kept. A place is a revision of the stream or, for $all, a position. */
export interface GroupRecord {
  /** Stream name or `$all`. */
  readonly source: string;
  readonly group: string;
  readonly settings: GroupSettings;
  /** First place delivered. */
  readonly startAt: bigint;
  /** Whether `startAt` stands for the end at the time of creation. */
  readonly startedAtEnd: boolean;
  /** First place not processed yet; undefined before the first checkpoint. */
  readonly checkpoint: bigint | undefined;
  readonly filter: FilterExpression | undefined;
}

export const encodeGroup = (record: GroupRecord): string =>
  JSON.stringify(record, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value));

export const decodeGroup = (text: string): GroupRecord => {
  const { startAt, checkpoint, ...rest } = JSON.parse(text) as Omit<GroupRecord, 'startAt' | 'checkpoint'> & {
    readonly startAt: string;
    readonly checkpoint?: string;
  };
  return {
    ...rest,
    startAt: BigInt(startAt),
    checkpoint: checkpoint === undefined ? undefined : BigInt(checkpoint),
  };
};

/** The stream in which a group keeps what its consumers gave up on. */
export const parkedStreamOf = (source: string, group: string): string =>
  `$persistentsubscription-${source}::${group}-parked`;
