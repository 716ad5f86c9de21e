import type { FilterExpression } from '../reads/filter.js';

/** How a group distributes events to its consumers. */
export const CONSUMER_STRATEGIES = [
  'DispatchToSingle',
  'RoundRobin',
  'Pinned',
  'PinnedByCorrelation',
] as const;
export type ConsumerStrategy = (typeof CONSUMER_STRATEGIES)[number];

/** Whether events with the same key go to the same consumer. */
export const isPinning = (strategy: ConsumerStrategy): boolean => strategy.startsWith('Pinned');

export interface GroupSettings {
  readonly resolveLinks: boolean;
  readonly extraStatistics: boolean;
  readonly maxRetryCount: number;
  /** Milliseconds after which an unacknowledged event is delivered again; 0 for never. */
  readonly messageTimeoutMs: number;
  /** Milliseconds after which a checkpoint is written, if at least `minCheckpointCount` events were processed. */
  readonly checkpointAfterMs: number;
  readonly minCheckpointCount: number;
  /** A checkpoint is written as soon as this many events were processed. */
  readonly maxCheckpointCount: number;
  /** 0 for no limit. */
  readonly maxSubscriberCount: number;
  /** Stored and reported only. History and live events share one buffer here, limited by `historyBufferSize`. */
  readonly liveBufferSize: number;
  readonly readBatchSize: number;
  readonly historyBufferSize: number;
  readonly strategy: ConsumerStrategy;
}

/** Source name of groups that follow the whole log. */
export const ALL = '$all';

/** A group as stored. A place is a revision of the stream or, for $all, a position. */
export interface GroupRecord {
  /** Stream name or `$all`. */
  readonly source: string;
  readonly group: string;
  readonly settings: GroupSettings;
  /** First place to deliver. */
  readonly startAt: bigint;
  /** Whether `startAt` was the end of the source at creation. */
  readonly startedAtEnd: boolean;
  /** First place not yet processed; undefined before the first checkpoint. */
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

/** The stream that holds a group's parked messages. */
export const parkedStreamOf = (source: string, group: string): string =>
  `$persistentsubscription-${source}::${group}-parked`;
