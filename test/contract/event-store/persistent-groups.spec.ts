import { describe, expect, it } from '@jest/globals';
import { join, numbers } from './support/consumer.js';
import { freshStream, rejection } from './support/events.js';
import { storeUnderTest } from './support/store-under-test.js';
import { GROUP, groupsOf, settings } from './support/groups.js';

const store = storeUnderTest();
const { group, info, infoWhen } = groupsOf(store);

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

  it('keeps its place and drops its consumers when it is updated', async () => {
    const stream = await group(4);
    const consumer = await join(store.client, stream, GROUP, 1);
    await consumer.process(2);
    await infoWhen(stream, ({ stats }) => stats.totalItems === 2n);
    const dropped = consumer.failure();
    await store.client.updatePersistentSubscriptionToStream(stream, GROUP, settings({ maxRetryCount: 1 }));
    expect(await dropped).toMatchObject({ type: 'persistent-subscription-dropped' });
    expect((await info(stream)).settings.maxRetryCount).toBe(1);
    const again = await join(store.client, stream, GROUP);
    expect(numbers(await again.process(2))).toEqual([2, 3]);
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

  it('is refused with settings that contradict each other', async () => {
    const create = store.client.createPersistentSubscriptionToStream(
      freshStream(),
      GROUP,
      settings({ readBatchSize: 20, historyBufferSize: 10 }),
    );
    expect(await rejection(create)).toMatchObject({ type: 'persistent-subscription-failed' });
  });
});
