import persistentPb from '@eventstore/db-client/generated/persistent_pb.js';
import type { CreateReq, UpdateReq } from '@eventstore/db-client/generated/persistent_pb.js';
import type { StreamIdentifier } from '@eventstore/db-client/generated/shared_pb.js';
import { MAX_UINT64 } from '../log/keys.js';
import {
  ALL,
  CONSUMER_STRATEGIES,
  type ConsumerStrategy,
  type GroupSettings,
} from '../persistent-subscriptions/settings.js';
import { compileFilter, UnsupportedFilterError, type FilterExpression } from '../reads/filter.js';
import { streamName } from './requests.js';
import { groupFailure, invalidArgument } from './rpc-error.js';

const MAX_GROUP_NAME_BYTES = 512;
const TICKS_PER_MILLISECOND = 10_000;

/** Identifies the group that a request refers to. */
export interface GroupName {
  /** Stream name or `$all`. */
  readonly source: string;
  readonly group: string;
}

interface GroupOptions {
  hasAll(): boolean;
  getStreamIdentifier(): StreamIdentifier | undefined;
  getGroupName(): string;
}

/** @throws {RpcError} INVALID_ARGUMENT when a name is missing or too long. */
export const groupName = (options: GroupOptions | undefined): GroupName => {
  if (!options) throw invalidArgument('The options are missing.');
  const group = options.getGroupName();
  if (group === '') throw invalidArgument('The group name is missing.');
  if (Buffer.byteLength(group) > MAX_GROUP_NAME_BYTES) {
    throw invalidArgument(`The group name is longer than ${String(MAX_GROUP_NAME_BYTES)} bytes.`);
  }
  return { source: options.hasAll() ? ALL : streamName(options.getStreamIdentifier()), group };
};

type DefiningOptions = CreateReq.Options | UpdateReq.Options;

/**
 * Reads the group name from both protocol versions. The newer one carries the stream name beside the start
 * position.
 */
export const definedGroup = (options: DefiningOptions | undefined): GroupName => {
  if (!options) throw invalidArgument('The options are missing.');
  return groupName({
    hasAll: () => options.hasAll(),
    getStreamIdentifier: () => options.getStream()?.getStreamIdentifier() ?? options.getStreamIdentifier(),
    getGroupName: () => options.getGroupName(),
  });
};

const strategyOf = (settings: CreateReq.Settings | UpdateReq.Settings): ConsumerStrategy => {
  const named = settings instanceof persistentPb.CreateReq.Settings ? settings.getConsumerStrategy() : '';
  const name = named === '' ? CONSUMER_STRATEGIES[settings.getNamedConsumerStrategy()] : named;
  const strategy = CONSUMER_STRATEGIES.find((known) => known === name);
  if (!strategy) throw invalidArgument(`The consumer strategy ${String(name)} is unknown.`);
  return strategy;
};

/** @throws {RpcError} when settings are missing or contradict each other. */
export const groupSettings = (
  { source, group }: GroupName,
  settings: CreateReq.Settings | UpdateReq.Settings | undefined,
): GroupSettings => {
  if (!settings) throw invalidArgument('The settings are missing.');
  const result: GroupSettings = {
    resolveLinks: settings.getResolveLinks(),
    extraStatistics: settings.getExtraStatistics(),
    maxRetryCount: settings.getMaxRetryCount(),
    messageTimeoutMs: settings.hasMessageTimeoutTicks()
      ? Number(settings.getMessageTimeoutTicks()) / TICKS_PER_MILLISECOND
      : settings.getMessageTimeoutMs(),
    checkpointAfterMs: settings.hasCheckpointAfterTicks()
      ? Number(settings.getCheckpointAfterTicks()) / TICKS_PER_MILLISECOND
      : settings.getCheckpointAfterMs(),
    minCheckpointCount: settings.getMinCheckpointCount(),
    maxCheckpointCount: settings.getMaxCheckpointCount(),
    maxSubscriberCount: settings.getMaxSubscriberCount(),
    liveBufferSize: settings.getLiveBufferSize(),
    readBatchSize: settings.getReadBatchSize(),
    historyBufferSize: settings.getHistoryBufferSize(),
    strategy: strategyOf(settings),
  };
  const problem = problemOf(result);
  if (problem !== undefined) throw groupFailure('failed', source, group, problem);
  return result;
};

const problemOf = (settings: GroupSettings): string | undefined => {
  if (Object.values(settings).some((value) => typeof value === 'number' && value < 0)) {
    return 'A setting is negative';
  }
  if (settings.readBatchSize < 1) return 'The read batch size must be at least 1';
  if (settings.readBatchSize >= settings.historyBufferSize) {
    return 'The read batch size must be less than the history buffer size';
  }
  return undefined;
};

/** The start of a group: a revision or position (inclusive), or the end. */
export const startOf = (options: DefiningOptions): bigint | 'end' => {
  const all = options.getAll();
  if (all) {
    const commit = BigInt(all.getPosition()?.getCommitPosition() ?? 0);
    return all.hasEnd() || commit === MAX_UINT64 ? 'end' : commit;
  }
  const stream = options.getStream();
  const revision = BigInt(
    stream ? (stream.hasRevision() ? stream.getRevision() : 0) : (options.getSettings()?.getRevision() ?? 0),
  );
  return stream?.hasEnd() || revision === MAX_UINT64 ? 'end' : revision;
};

/** The filter of a group on $all. @throws {RpcError} INVALID_ARGUMENT when the filter is not supported */
export const groupFilter = (options: CreateReq.Options): FilterExpression | undefined => {
  const filter = options.getAll()?.getFilter();
  if (!filter) return undefined;
  const byStream = filter.getStreamIdentifier();
  const expression = byStream ?? filter.getEventType();
  if (!expression) throw invalidArgument('The filter has no expression.');
  const result: FilterExpression = {
    on: byStream ? 'stream' : 'type',
    regex: expression.getRegex(),
    prefixes: expression.getPrefixList(),
  };
  try {
    compileFilter(result);
  } catch (error) {
    throw error instanceof UnsupportedFilterError ? invalidArgument(error.message) : error;
  }
  return result;
};
