import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from '@jest/globals';
import { join, numbers } from './support/consumer.js';
import { collect } from './support/events.js';
import { IS_EMBEDDED, storeUnderTest } from './support/store-under-test.js';
import { GROUP, groupsOf } from './support/groups.js';

const store = storeUnderTest();
const { group, info, parkedCount } = groupsOf(store);

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
    expect(parked[0]?.link?.metadata).toMatchObject({
      reason: "Client explicitly NAK'ed message.\nbroken",
    });
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
    const [parked] = await collect(
      store.client.readStream(`$persistentsubscription-${stream}::${GROUP}-parked`),
    );
    expect(parked?.event?.metadata).toMatchObject({ reason: 'Reached retry count of 2' });
    await consumer.leave();
  });

  it('with stop stays, and the event is not given out again', async () => {
    const stream = await group(3);
    const consumer = await join(store.client, stream, GROUP, 1);
    const [event] = await consumer.next();
    if (event) await consumer.subscription.nack('stop', 'out of order', event);
    expect(numbers(await consumer.process(2))).toEqual([1, 2]);
    expect((await info(stream)).stats.parkedMessageCount).toBe(0n);
    await consumer.leave();
  });

  it('gets the next event after each answer, and a retried one before what follows it', async () => {
    const stream = await group(6);
    const consumer = await join(store.client, stream, GROUP, 2);
    const [first, second] = await consumer.next(2);
    // Together: the second answer does not reach back before the first one's effect.
    await Promise.all([
      consumer.subscription.ack(first!),
      consumer.subscription.nack('retry', 'later', second!),
    ]);
    const atOnce = [2, 1, 3, 4, 5];
    // KurrentDB 26 takes both answers before it gives out the next event.
    const together = [1, 2, 3, 4, 5];
    expect(IS_EMBEDDED ? [atOnce] : [atOnce, together]).toContainEqual(numbers(await consumer.process(5)));
    await consumer.leave();
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

/** Polls until the last parked message has this reason; the test's timeout ends it. */
const lastReason = async (stream: string, reason: string): Promise<void> => {
  for (let found: unknown; found !== reason; await delay(20)) {
    const last = store.client.readStream(`$persistentsubscription-${stream}::${GROUP}-parked`, {
      direction: 'backwards',
      fromRevision: 'end',
      maxCount: 1,
    });
    // Replayed messages are hidden.
    const [parked] = await collect(last).catch(() => []);
    found = (parked?.event?.metadata as { reason?: string } | undefined)?.reason;
  }
};

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
    await lastReason(stream, "Client explicitly NAK'ed message.\nstill broken");
    await parkedCount(stream, 1n);
    await consumer.leave();
  });
});
