import persistentPb from '@eventstore/db-client/generated/persistent_pb.js';
import type { SubscriptionInfo } from '@eventstore/db-client/generated/persistent_pb.js';
import type { Consumer } from '../persistent-subscriptions/consumer.js';
import type { Group } from '../persistent-subscriptions/group.js';
import { placeText } from '../persistent-subscriptions/config-event.js';

const reached = (source: string, place: bigint): string => (place < 0n ? '' : placeText(source, place));

const connectionInfo = (
  consumer: Consumer,
): InstanceType<typeof persistentPb.SubscriptionInfo.ConnectionInfo> => {
  const info = new persistentPb.SubscriptionInfo.ConnectionInfo();
  info.setFrom(consumer.from);
  info.setUsername(consumer.username);
  info.setTotalItems(String(consumer.total));
  info.setCountSinceLastMeasurement('0');
  info.setAvailableSlots(consumer.slots - consumer.inFlight.size);
  info.setInFlightMessages(consumer.inFlight.size);
  info.setConnectionName(consumer.connectionName);
  info.setObservedMeasurementsList(
    (consumer.times?.figures() ?? []).map(([name, milliseconds]) => {
      const measurement = new persistentPb.SubscriptionInfo.Measurement();
      measurement.setKey(name);
      measurement.setValue(String(milliseconds));
      return measurement;
    }),
  );
  return info;
};

/** A group with its settings, consumers and counts. Rates are not measured and are always 0. */
export const subscriptionInfo = (group: Group): SubscriptionInfo => {
  const { source, group: name, settings, startAt, startedAtEnd, checkpoint } = group.record;
  const { counts } = group;
  const info = new persistentPb.SubscriptionInfo();
  info.setEventSource(source);
  info.setGroupName(name);
  info.setStatus('Live');
  info.setConnectionsList(group.connected.map(connectionInfo));
  info.setTotalItems(String(counts.delivered));
  info.setCountSinceLastMeasurement('0');
  info.setLastCheckpointedEventPosition(checkpoint === undefined ? '' : reached(source, checkpoint - 1n));
  info.setLastKnownEventPosition(reached(source, counts.lastKnown));
  info.setResolveLinkTos(settings.resolveLinks);
  info.setStartFrom(placeText(source, startedAtEnd ? -1n : startAt));
  info.setMessageTimeoutMilliseconds(settings.messageTimeoutMs);
  info.setExtraStatistics(settings.extraStatistics);
  info.setMaxRetryCount(settings.maxRetryCount);
  info.setLiveBufferSize(settings.liveBufferSize);
  info.setBufferSize(settings.historyBufferSize);
  info.setReadBatchSize(settings.readBatchSize);
  info.setCheckPointAfterMilliseconds(settings.checkpointAfterMs);
  info.setMinCheckPointCount(settings.minCheckpointCount);
  info.setMaxCheckPointCount(settings.maxCheckpointCount);
  info.setReadBufferCount(counts.buffered);
  info.setLiveBufferCount('0');
  info.setRetryBufferCount(counts.retrying);
  info.setTotalInFlightMessages(counts.inFlight);
  info.setOutstandingMessagesCount(counts.inFlight);
  info.setNamedConsumerStrategy(settings.strategy);
  info.setMaxSubscriberCount(settings.maxSubscriberCount);
  info.setParkedMessageCount(String(counts.parked));
  return info;
};
