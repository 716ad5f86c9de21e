import { describe, expect, it } from '@jest/globals';
import { join, numbers } from './support/consumer.js';
import { collect } from './support/events.js';
import { storeUnderTest } from './support/store-under-test.js';
import { GROUP, groupsOf } from './support/groups.js';

const store = storeUnderTest();
const { group, info, infoWhen, parkedCount } = groupsOf(store);

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
