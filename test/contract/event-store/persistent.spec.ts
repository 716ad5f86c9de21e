import { setTimeout as delay } from 'node:timers/promises';
import {
  persistentSubscriptionToAllSettingsFromDefaults,
  persistentSubscriptionToStreamSettingsFromDefaults,
  streamNameFilter,
  type PersistentSubscriptionToStreamInfo,
  type PersistentSubscriptionToStreamSettings,
} from '@eventstore/db-client';
import { describe, expect, it } from '@jest/globals';
import { consumerOf, join, numbers } from './support/consumer.js';
import { collect, freshStream, numbered, one, rejection } from './support/events.js';
import { storeUnderTest } from './support/store-under-test.js';

const store = storeUnderTest();
const GROUP = 'readers';

const settings = (changes: Partial<PersistentSubscriptionToStreamSettings> = {}) =>
  persistentSubscriptionToStreamSettingsFromDefaults({ startFrom: 'start', ...changes });

/** Creates a group on a new stream with `count` events. */
const group = async (count: number, changes: Partial<PersistentSubscriptionToStreamSettings> = {}) => {
  const stream = freshStream('grouped');
  if (count > 0) await store.client.appendToStream(stream, numbered(count));
  await store.client.createPersistentSubscriptionToStream(stream, GROUP, settings(changes));
  return stream;
};

const info = (stream: string): Promise<PersistentSubscriptionToStreamInfo> =>
  store.client.getPersistentSubscriptionToStreamInfo(stream, GROUP);

/** Polls until the group is as expected; the test's timeout ends it. */
const infoWhen = async (
  stream: string,
  expected: (info: PersistentSubscriptionToStreamInfo) => boolean,
): Promise<PersistentSubscriptionToStreamInfo> => {
  for (;;) {
    const found = await info(stream);
    if (expected(found)) return found;
    await delay(10);
  }
};

const parkedCount = (stream: string, count: bigint) =>
  infoWhen(stream, ({ stats }) => stats.parkedMessageCount === count);

describe('a persistent subscription', () => {
  it('delivers history and then live events, each once to the group', async () => {
    const stream = await group(3);
    const consumer = await join(store.client, stream, GROUP);
    expect(numbers(await consumer.process(3))).toEqual([0, 1, 2]);
    await store.client.appendToStream(stream, numbered(2));
    expect(numbers(await consumer.process(2))).toEqual([0, 1]);
    await consumer.leave();
  });

  it('from the end delivers what was appended after it was created, even before anyone joined', async () => {
    const stream = await group(3, { startFrom: 'end' });
    await store.client.appendToStream(stream, one('Later'));
    const consumer = await join(store.client, stream, GROUP);
    expect((await consumer.process(1))[0]?.event?.type).toBe('Later');
    await consumer.leave();
  });

  it('from a revision begins with that event', async () => {
    const stream = await group(5, { startFrom: 3n });
    const consumer = await join(store.client, stream, GROUP);
    expect(numbers(await consumer.process(2))).toEqual([3, 4]);
    await consumer.leave();
  });

  it('waits for a stream that does not exist yet', async () => {
    const stream = await group(0);
    const consumer = await join(store.client, stream, GROUP);
    await store.client.appendToStream(stream, one('First'));
    expect((await consumer.process(1))[0]?.event?.type).toBe('First');
    await consumer.leave();
  });

  it('sends a consumer no more than its buffer size before it acknowledges', async () => {
    const stream = await group(20);
    const consumer = await join(store.client, stream, GROUP, 4);
    const first = await consumer.next(4);
    const { connections } = await infoWhen(stream, ({ stats }) => stats.totalInFlightMessages === 4);
    expect(connections[0]).toMatchObject({ availableSlots: 0, inFlightMessages: 4 });
    await consumer.subscription.ack(...first);
    expect(numbers(await consumer.process(16))).toEqual(Array.from({ length: 16 }, (_, n) => n + 4));
    await consumer.leave();
  });

  it('resumes after the processed events when its consumer returns', async () => {
    const stream = await group(10);
    const first = await join(store.client, stream, GROUP, 3);
    await first.process(4);
    await infoWhen(stream, ({ stats }) => stats.totalItems === 4n);
    await first.leave();
    const second = await join(store.client, stream, GROUP);
    expect(numbers(await second.process(6)).sort()).toEqual([4, 5, 6, 7, 8, 9]);
    await second.leave();
  });

  it('resolves links when configured, and applies the acknowledgement to the link', async () => {
    const target = freshStream();
    await store.client.appendToStream(target, one('Target'));
    const stream = freshStream('links');
    await store.client.appendToStream(stream, {
      ...one('$>'),
      contentType: 'application/octet-stream',
      data: Buffer.from(`0@${target}`),
    } as never);
    await store.client.createPersistentSubscriptionToStream(
      stream,
      GROUP,
      settings({ resolveLinkTos: true }),
    );
    const consumer = await join(store.client, stream, GROUP);
    const [delivered] = await consumer.process(1);
    expect(delivered?.event).toMatchObject({ type: 'Target', streamId: target });
    expect(delivered?.link?.streamId).toBe(stream);
    await infoWhen(stream, ({ stats }) => stats.totalItems === 1n);
    await consumer.leave();
  });
});

describe('a consumer that does not acknowledge', () => {
  it('with retry gets the event again, with the count of retries', async () => {
    const stream = await group(1);
    const consumer = await join(store.client, stream, GROUP);
    const [first] = await consumer.next();
    expect(first?.retryCount).toBe(0);
    if (first) await consumer.subscription.nack('retry', 'later', first);
    const [again] = await consumer.process(1);
    expect(again?.event?.id).toBe(first?.event?.id);
    expect(again?.retryCount).toBe(1);
    await consumer.leave();
  });

  it('with skip gets the next one, and nothing is parked', async () => {
    const stream = await group(2);
    const consumer = await join(store.client, stream, GROUP, 1);
    const [first] = await consumer.next();
    if (first) await consumer.subscription.nack('skip', 'no use', first);
    expect(numbers(await consumer.process(1))).toEqual([1]);
    expect((await info(stream)).stats.parkedMessageCount).toBe(0n);
    await consumer.leave();
  });

  it('with park puts a link into the parked stream', async () => {
    const stream = await group(2);
    const consumer = await join(store.client, stream, GROUP, 1);
    const [first] = await consumer.next();
    if (first) await consumer.subscription.nack('park', 'broken', first);
    expect(numbers(await consumer.process(1))).toEqual([1]);
    await parkedCount(stream, 1n);
    const parked = await collect(
      store.client.readStream(`$persistentsubscription-${stream}::${GROUP}-parked`, { resolveLinkTos: true }),
    );
    expect(parked[0]?.event?.id).toBe(first?.event?.id);
    expect(parked[0]?.link?.type).toBe('$>');
    expect(parked[0]?.link?.metadata).toMatchObject({ reason: 'broken' });
    await consumer.leave();
  });

  it('for longer than the message timeout gets the event again', async () => {
    const stream = await group(1, { messageTimeout: 100 });
    const consumer = await join(store.client, stream, GROUP);
    await consumer.next();
    const [again] = await consumer.process(1);
    expect(again?.retryCount).toBe(1);
    await consumer.leave();
  });

  it('more often than the retries allow finds the event parked', async () => {
    const stream = await group(1, { maxRetryCount: 2 });
    const consumer = await join(store.client, stream, GROUP);
    const counts: number[] = [];
    for (let n = 0; n < 3; n++) {
      const [event] = await consumer.next();
      counts.push(event?.retryCount ?? -1);
      if (event) await consumer.subscription.nack('retry', 'again', event);
    }
    expect(counts).toEqual([0, 1, 2]);
    await parkedCount(stream, 1n);
    await consumer.leave();
  });

  it('with stop is dropped, and the event goes to another one', async () => {
    const stream = await group(1);
    const first = await join(store.client, stream, GROUP);
    const dropped = first.failure();
    const [event] = await first.next();
    if (event) await first.subscription.nack('stop', 'out of order', event);
    expect(await dropped).toMatchObject({
      type: 'persistent-subscription-dropped',
      streamName: stream,
      groupName: GROUP,
    });
    const second = await join(store.client, stream, GROUP);
    expect((await second.process(1))[0]?.event?.id).toBe(event?.event?.id);
    await second.leave();
  });

  it('and leaves returns its events to the others', async () => {
    const stream = await group(2);
    const first = await join(store.client, stream, GROUP);
    await first.next(2);
    const second = await join(store.client, stream, GROUP);
    await first.leave();
    expect(numbers(await second.process(2))).toEqual([0, 1]);
    await second.leave();
  });
});

describe('parked messages', () => {
  const withParked = async (count: number) => {
    const stream = await group(count);
    const consumer = await join(store.client, stream, GROUP);
    await consumer.subscription.nack('park', 'broken', ...(await consumer.next(count)));
    await parkedCount(stream, BigInt(count));
    return { stream, consumer };
  };

  it('are delivered again when they are replayed, and are gone once processed', async () => {
    const { stream, consumer } = await withParked(3);
    await store.client.replayParkedMessagesToStream(stream, GROUP);
    const replayed = await consumer.process(3);
    expect(numbers(replayed)).toEqual([0, 1, 2]);
    expect(replayed[0]?.link?.streamId).toBe(`$persistentsubscription-${stream}::${GROUP}-parked`);
    await parkedCount(stream, 0n);
    await consumer.leave();
  });

  it('are replayed up to where the caller stops', async () => {
    const { stream, consumer } = await withParked(3);
    await store.client.replayParkedMessagesToStream(stream, GROUP, { stopAt: 2 });
    expect(numbers(await consumer.process(2))).toEqual([0, 1]);
    await parkedCount(stream, 1n);
    await consumer.leave();
  });

  it('that fail again are parked again', async () => {
    const { stream, consumer } = await withParked(1);
    await store.client.replayParkedMessagesToStream(stream, GROUP);
    await consumer.subscription.nack('park', 'still broken', ...(await consumer.next()));
    await infoWhen(stream, ({ stats }) => stats.totalItems === 2n && stats.parkedMessageCount === 1n);
    const last = await collect(
      store.client.readStream(`$persistentsubscription-${stream}::${GROUP}-parked`, {
        direction: 'backwards',
        fromRevision: 'end',
        maxCount: 1,
      }),
    );
    expect(last[0]?.event?.metadata).toMatchObject({ reason: 'still broken' });
    await consumer.leave();
  });
});

describe('the consumer strategy', () => {
  const two = async (
    strategy: PersistentSubscriptionToStreamSettings['consumerStrategyName'],
    bufferSize: number,
  ) => {
    const stream = await group(0, { consumerStrategyName: strategy });
    const first = await join(store.client, stream, GROUP, bufferSize);
    const second = await join(store.client, stream, GROUP, bufferSize);
    return { stream, first, second };
  };

  it('RoundRobin serves the consumers one after the other', async () => {
    const { stream, first, second } = await two('RoundRobin', 10);
    await store.client.appendToStream(stream, numbered(6));
    const [a, b] = await Promise.all([first.process(3), second.process(3)]);
    expect([...numbers(a), ...numbers(b)].sort()).toEqual([0, 1, 2, 3, 4, 5]);
    await Promise.all([first.leave(), second.leave()]);
  });

  it('DispatchToSingle fills one consumer before it turns to the next', async () => {
    const { stream, first, second } = await two('DispatchToSingle', 3);
    await store.client.appendToStream(stream, numbered(5));
    expect(numbers(await first.next(3))).toEqual([0, 1, 2]);
    expect(numbers(await second.next(2))).toEqual([3, 4]);
    await Promise.all([first.leave(), second.leave()]);
  });

  it('Pinned gives all events of a stream to the same consumer', async () => {
    const stream = freshStream('pinned');
    await store.client.createPersistentSubscriptionToAll(
      stream,
      persistentSubscriptionToAllSettingsFromDefaults({ startFrom: 'end', consumerStrategyName: 'Pinned' }),
      { filter: streamNameFilter({ prefixes: [stream] }) },
    );
    const joinAll = () =>
      consumerOf(store.client.subscribeToPersistentSubscriptionToAll(stream, { bufferSize: 100 }));
    const consumers = await Promise.all([joinAll(), joinAll()]);
    const streams = Array.from({ length: 10 }, (_, n) => `${stream}-${String(n)}`);
    for (const name of [...streams, ...streams, ...streams]) await store.client.appendToStream(name, one());
    const owner = new Map<string, Set<number>>();
    let seen = 0;
    await new Promise<void>((resolve) => {
      const follow = async (index: number): Promise<void> => {
        while (seen < 30) {
          const [event] = await consumers[index]!.process(1);
          const name = event?.event?.streamId ?? '';
          owner.set(name, (owner.get(name) ?? new Set()).add(index));
          if (++seen === 30) resolve();
        }
      };
      void follow(0);
      void follow(1);
    });
    expect(owner.size).toBe(10);
    for (const owners of owner.values()) expect(owners.size).toBe(1);
    await Promise.all(consumers.map((consumer) => consumer.leave()));
    await store.client.deletePersistentSubscriptionToAll(stream);
  });
});

describe('a persistent subscription to $all', () => {
  it('delivers what its filter lets through, and can be asked about, updated and deleted', async () => {
    const name = freshStream('all');
    const wanted = freshStream('wanted');
    const allSettings = persistentSubscriptionToAllSettingsFromDefaults({ startFrom: 'start' });
    const filter = streamNameFilter({ prefixes: [wanted] });
    await store.client.createPersistentSubscriptionToAll(name, allSettings, { filter });
    const consumer = await consumerOf(store.client.subscribeToPersistentSubscriptionToAll(name));
    await store.client.appendToStream(freshStream('other'), numbered(3));
    await store.client.appendToStream(wanted, numbered(3));
    expect(numbers(await consumer.process(3))).toEqual([0, 1, 2]);
    const found = await store.client.getPersistentSubscriptionToAllInfo(name);
    expect(found).toMatchObject({ eventSource: '$all', groupName: name, settings: { startFrom: 'start' } });
    expect(
      (await store.client.listPersistentSubscriptionsToAll()).map(({ groupName }) => groupName),
    ).toContain(name);
    await consumer.leave();
    await store.client.updatePersistentSubscriptionToAll(name, { ...allSettings, maxRetryCount: 3 });
    const updated = await store.client.getPersistentSubscriptionToAllInfo(name);
    expect(updated.settings.maxRetryCount).toBe(3);
    await store.client.deletePersistentSubscriptionToAll(name);
    const gone = await rejection(store.client.getPersistentSubscriptionToAllInfo(name));
    expect(gone).toMatchObject({
      type: 'persistent-subscription-does-not-exist',
      streamName: '$all',
      groupName: name,
    });
  });
});

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
