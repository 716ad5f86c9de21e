import type { PersistentSubscriptionToStreamSettings } from '@eventstore/db-client';
import { describe, expect, it } from '@jest/globals';
import {
  itWithKurrent,
  jsonEvent,
  persistentSubscriptionToAllSettingsFromDefaults,
  streamNameFilter,
} from './support/clients/under-test.js';
import { consumerOf, join, numbers } from './support/consumer.js';
import { freshStream, numbered, one, rejection } from './support/events.js';
import { storeUnderTest } from './support/store-under-test.js';
import { GROUP, groupsOf, settings } from './support/groups.js';

const store = storeUnderTest();
const { group, infoWhen } = groupsOf(store);

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

  it('goes on after the processed events when its consumer returns', async () => {
    const stream = await group(10);
    const first = await join(store.client, stream, GROUP, 3);
    await first.process(4);
    // Four processed and three on the way.
    await infoWhen(stream, ({ stats }) => stats.totalItems === 7n);
    await first.leave();
    await infoWhen(stream, ({ connections }) => connections.length === 0);
    const second = await join(store.client, stream, GROUP);
    const events = await second.process(6);
    expect(numbers(events)).toEqual([4, 5, 6, 7, 8, 9]);
    expect(events.map(({ retryCount }) => retryCount)).toEqual([1, 1, 1, 0, 0, 0]);
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

describe('the consumer strategy PinnedByCorrelation', () => {
  // The older client cannot name it.
  itWithKurrent('gives all events of a correlation to the same consumer', async () => {
    const stream = await group(0, { consumerStrategyName: 'PinnedByCorrelation' });
    const consumers = await Promise.all([
      join(store.client, stream, GROUP),
      join(store.client, stream, GROUP),
    ]);
    const owners = new Map<unknown, Set<number>>();
    const follow = async (index: number): Promise<void> => {
      for (;;) {
        const [resolved] = await consumers[index]!.process(1);
        const { $correlationId: correlation } = resolved!.event!.metadata as { $correlationId: string };
        owners.set(correlation, (owners.get(correlation) ?? new Set()).add(index));
      }
    };
    void follow(0);
    void follow(1);
    const correlated = Array.from({ length: 40 }, (_, n) =>
      jsonEvent({ type: 'Counted', data: { n }, metadata: { $correlationId: `c-${n % 8}` } }),
    );
    await store.client.appendToStream(stream, correlated);
    await infoWhen(stream, ({ stats }) => stats.totalItems === 40n && stats.totalInFlightMessages === 0);
    expect([...owners.values()].map((of) => of.size)).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
    await Promise.all(consumers.map((consumer) => consumer.leave()));
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
