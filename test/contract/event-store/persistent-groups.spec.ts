import { setTimeout as delay } from 'node:timers/promises';
import { connect } from './support/clients/under-test.js';
import { describe, expect, it } from '@jest/globals';
import { join, numbers, type GroupConsumer } from './support/consumer.js';
import { collect, freshStream, rejection } from './support/events.js';
import { storeUnderTest } from './support/store-under-test.js';
import { GROUP, groupsOf, settings } from './support/groups.js';

/** A server may report a checkpoint before it is written. Nothing tells when it is; a busy machine takes longer. */
const CHECKPOINT_WRITTEN_MS = 1_000;

const store = storeUnderTest();
const { group, info, infoWhen } = groupsOf(store);

/** A restart of the subscriptions takes a moment, in which a server knows no group. */
const joinWhenReady = async (stream: string): Promise<GroupConsumer> => {
  for (;;) {
    try {
      return await join(store.client, stream, GROUP);
    } catch {
      await delay(50);
    }
  }
};

describe('a group', () => {
  it('cannot be created twice', async () => {
    const stream = await group(0);
    const error = await rejection(
      store.client.createPersistentSubscriptionToStream(stream, GROUP, settings()),
    );
    expect(error).toMatchObject({
      type: 'persistent-subscription-exists',
      streamName: stream,
      groupName: GROUP,
    });
  });

  it('that does not exist cannot be joined, updated, deleted, asked about, replayed or listed', async () => {
    const stream = freshStream();
    const missing = { type: 'persistent-subscription-does-not-exist', streamName: stream };
    const { client } = store;
    expect(await rejection(join(client, stream, GROUP))).toMatchObject(missing);
    expect(
      await rejection(client.updatePersistentSubscriptionToStream(stream, GROUP, settings())),
    ).toMatchObject(missing);
    expect(await rejection(client.deletePersistentSubscriptionToStream(stream, GROUP))).toMatchObject(
      missing,
    );
    expect(await rejection(client.getPersistentSubscriptionToStreamInfo(stream, GROUP))).toMatchObject(
      missing,
    );
    expect(await rejection(client.replayParkedMessagesToStream(stream, GROUP))).toMatchObject(missing);
    expect(await rejection(client.listPersistentSubscriptionsToStream(stream))).toMatchObject(missing);
  });

  it('accepts no more consumers than its maximum', async () => {
    const stream = await group(0, { maxSubscriberCount: 1 });
    const first = await join(store.client, stream, GROUP);
    const error = await rejection(join(store.client, stream, GROUP));
    expect(error).toMatchObject({
      type: 'maximum-subscribers-reached',
      streamName: stream,
      groupName: GROUP,
    });
    await first.leave();
  });

  it.each([
    [
      'with a checkpoint goes on from there',
      { checkPointLowerBound: 1, checkPointUpperBound: 1 },
      1n,
      [2, 3],
    ],
    ['without one begins again', {}, undefined, [0, 1, 2, 3]],
  ] as const)('that is updated drops its consumers, and %s', async (_, changes, checkpoint, left) => {
    const stream = await group(4, changes);
    const consumer = await join(store.client, stream, GROUP, 1);
    await consumer.process(1);
    // The server writes no other checkpoint meanwhile.
    await delay(CHECKPOINT_WRITTEN_MS);
    await consumer.process(1);
    await infoWhen(
      stream,
      ({ stats }) => stats.totalItems === 3n && stats.lastCheckpointedEventRevision === checkpoint,
    );
    await delay(CHECKPOINT_WRITTEN_MS);
    const dropped = consumer.failure();
    await store.client.updatePersistentSubscriptionToStream(stream, GROUP, settings({ maxRetryCount: 1 }));
    expect(await dropped).toMatchObject({ type: 'persistent-subscription-dropped' });
    expect((await info(stream)).settings.maxRetryCount).toBe(1);
    const again = await join(store.client, stream, GROUP);
    expect(numbers(await again.process(left.length))).toEqual(left);
    await again.leave();
  });

  it('drops its consumers when it is deleted, and can be created again', async () => {
    const stream = await group(1);
    const consumer = await join(store.client, stream, GROUP);
    const dropped = consumer.failure();
    await store.client.deletePersistentSubscriptionToStream(stream, GROUP);
    expect(await dropped).toMatchObject({ type: 'persistent-subscription-dropped' });
    await store.client.createPersistentSubscriptionToStream(stream, GROUP, settings());
    const again = await join(store.client, stream, GROUP);
    expect(numbers(await again.process(1))).toEqual([0]);
    await again.leave();
  });

  it('reports its settings, checkpoint and statistics', async () => {
    const changes = {
      checkPointUpperBound: 2,
      checkPointLowerBound: 1,
      consumerStrategyName: 'Pinned',
    } as const;
    const stream = await group(5, { ...changes, messageTimeout: 5_000 });
    const consumer = await join(store.client, stream, GROUP);
    await consumer.process(4);
    const found = await infoWhen(stream, ({ stats }) => stats.lastCheckpointedEventRevision === 3n);
    expect(found).toMatchObject({
      eventSource: stream,
      groupName: GROUP,
      settings: {
        startFrom: 'start',
        messageTimeout: 5_000,
        consumerStrategyName: 'Pinned',
        maxSubscriberCount: 'unbounded',
      },
      stats: { lastKnownEventRevision: 4n },
    });
    expect(found.connections).toHaveLength(1);
    await consumer.leave();
  });

  it('is listed for its stream and among all', async () => {
    const stream = await group(0);
    await store.client.createPersistentSubscriptionToStream(stream, 'others', settings());
    const own = await store.client.listPersistentSubscriptionsToStream(stream);
    expect(own.map(({ groupName }) => groupName).sort()).toEqual(['others', GROUP]);
    const all = await store.client.listAllPersistentSubscriptions();
    expect(all.filter(({ eventSource }) => eventSource === stream)).toHaveLength(2);
  });

  it('accepts a minimum of events per checkpoint above the maximum', async () => {
    const stream = await group(1, { checkPointLowerBound: 5, checkPointUpperBound: 1 });
    const consumer = await join(store.client, stream, GROUP);
    expect(numbers(await consumer.process(1))).toEqual([0]);
    await consumer.leave();
  });

  it('tells which connection a consumer has, and on request how fast it answers', async () => {
    const stream = await group(2, { extraStatistics: true });
    const named = connect(`${store.connectionString}&connectionName=the-reader`);
    const consumer = await join(named, stream, GROUP);
    await consumer.process(2);
    const { connections } = await infoWhen(stream, ({ stats }) => stats.totalInFlightMessages === 0);
    expect(connections).toMatchObject([{ connectionName: 'the-reader', totalItems: 2n }]);
    const figures = [...(connections[0]?.extraStatistics ?? new Map()).keys()];
    expect(figures).toEqual(
      ['mean', 'median', 'fastest', ...[1, 2, 3, 4, 5].map((fifth) => `quintile ${fifth}`)].concat([
        '90%',
        '95%',
        '99%',
        '99.5%',
        '99.9%',
        'highest',
      ]),
    );
    await consumer.leave();
    await named.dispose();
  });

  it('is published with its settings in a system stream, until it is deleted', async () => {
    const published = async (): Promise<{ type?: string; groups: unknown[] }> => {
      const [last] = await collect(
        store.client.readStream('$persistentSubscriptionConfig', {
          direction: 'backwards',
          fromRevision: 'end',
          maxCount: 1,
        }),
      );
      const { type, data } = last!.event!;
      const { entries } = data as unknown as { entries: { stream: string }[] };
      return { type, groups: entries.filter((entry) => entry.stream === stream) };
    };
    const stream = await group(0, { maxRetryCount: 7 });
    expect(await published()).toMatchObject({
      type: '$PersistentConfig',
      groups: [{ group: GROUP, startPosition: '0', maxRetryCount: 7, namedConsumerStrategy: 'RoundRobin' }],
    });
    await store.client.deletePersistentSubscriptionToStream(stream, GROUP);
    expect(await published()).toMatchObject({ groups: [] });
  });

  it('drops its consumers when the subscriptions are restarted, and goes on', async () => {
    const stream = await group(2, { checkPointLowerBound: 1, checkPointUpperBound: 1 });
    const consumer = await join(store.client, stream, GROUP, 1);
    await consumer.process(1);
    await infoWhen(stream, ({ stats }) => stats.lastCheckpointedEventRevision === 0n);
    await delay(CHECKPOINT_WRITTEN_MS);
    const dropped = consumer.failure();
    await store.client.restartPersistentSubscriptionSubsystem();
    expect(await dropped).toMatchObject({ type: 'persistent-subscription-dropped' });
    const again = await joinWhenReady(stream);
    expect(numbers(await again.process(1))).toEqual([1]);
    await again.leave();
  });

  it('is refused with settings that contradict each other', async () => {
    const create = store.client.createPersistentSubscriptionToStream(
      freshStream(),
      GROUP,
      settings({ readBatchSize: 20, historyBufferSize: 10 }),
    );
    expect(await rejection(create)).toMatchObject({ type: 'persistent-subscription-failed' });
  });
});
