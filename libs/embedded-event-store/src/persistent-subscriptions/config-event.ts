import { randomUUID } from 'node:crypto';
import type { ProposedEvent } from '../log/record.js';
import { ALL, type GroupRecord } from './settings.js';

/** The system stream with the settings of all groups, one event for each change. */
export const CONFIG_STREAM = '$persistentSubscriptionConfig';

/** The event that EventStoreDB appends after each change of a group. @param now milliseconds since 1970 */
export const configEvent = (groups: readonly GroupRecord[], now: number): ProposedEvent => ({
  id: randomUUID(),
  type: '$PersistentConfig',
  contentType: 'application/json',
  data: Buffer.from(
    JSON.stringify({
      version: '2',
      updated: new Date(now).toISOString(),
      updatedBy: 'system',
      entries: groups.map(entryOf),
    }),
  ),
  metadata: Buffer.alloc(0),
});

const entryOf = ({ source, group, settings, startAt, startedAtEnd, filter }: GroupRecord) => ({
  stream: source,
  group,
  ...(settings.resolveLinks && { resolveLinkTos: true }),
  ...(settings.extraStatistics && { extraStatistics: true }),
  messageTimeout: settings.messageTimeoutMs,
  startPosition: placeText(source, startedAtEnd ? -1n : startAt),
  liveBufferSize: settings.liveBufferSize,
  historyBufferSize: settings.historyBufferSize,
  maxRetryCount: settings.maxRetryCount,
  readBatchSize: settings.readBatchSize,
  checkPointAfter: settings.checkpointAfterMs,
  minCheckPointCount: settings.minCheckpointCount,
  maxCheckPointCount: settings.maxCheckpointCount,
  ...(settings.maxSubscriberCount > 0 && { maxSubscriberCount: settings.maxSubscriberCount }),
  namedConsumerStrategy: settings.strategy,
  ...(filter && { filter }),
});

/** A revision as a number, a position as `C:<commit>/P:<prepare>`, and -1 for the end. */
export const placeText = (source: string, place: bigint): string =>
  source === ALL ? `C:${String(place)}/P:${String(place)}` : String(place);
