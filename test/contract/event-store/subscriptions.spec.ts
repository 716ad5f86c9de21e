import type { AllStreamResolvedEvent, ReadPosition } from '@eventstore/db-client';
import { describe, expect, it } from '@jest/globals';
import { excludeSystemEvents, streamNameFilter } from './support/client.js';
import {
  collect,
  freshStream,
  headPosition,
  numbered,
  one,
  revisions,
  takeResubscribing,
} from './support/events.js';
import { storeUnderTest } from './support/store-under-test.js';

const store = storeUnderTest();

/** @param streams the streams whose events count: other specs may append to the same store */
const takeOfAll = (from: ReadPosition, count: number, streams: readonly string[]) =>
  takeResubscribing<AllStreamResolvedEvent>(
    (last) => store.client.subscribeToAll({ fromPosition: last?.event?.position ?? from }),
    count,
    ({ event }) => event !== undefined && streams.includes(event.streamId),
  );

describe('a subscription to $all', () => {
  it('misses nothing that is appended while it catches up', async () => {
    const from = await headPosition(store.client);
    const streams = Array.from({ length: 10 }, () => freshStream());
    const appends = Promise.all(
      streams.map(async (name) => {
        for (let n = 0; n < 30; n++) await store.client.appendToStream(name, one());
      }),
    );
    const events = await takeOfAll(from, 300, streams);
    await appends;
    for (const name of streams) {
      const own = events.filter(({ event }) => event?.streamId === name);
      expect(revisions(own)).toEqual(Array.from({ length: 30 }, (_, n) => BigInt(n)));
    }
  });

  it('is not blocked by another subscriber that does not read', async () => {
    const stream = freshStream();
    const from = await headPosition(store.client);
    const idle = store.client.subscribeToAll({ fromPosition: from }, { highWaterMark: 1 });
    idle.once('data', () => idle.pause());
    // EventStoreDB drops a subscriber that is 32 live events behind, as this one is.
    const errors: string[] = [];
    idle.on('error', (error: Error) => errors.push(String(error)));
    const active = takeOfAll(from, 500, [stream]);
    for (let n = 0; n < 5; n++) await store.client.appendToStream(stream, numbered(100));
    expect(await active).toHaveLength(500);
    await idle.unsubscribe();
    expect(errors.filter((error) => !error.includes('Consumer too slow'))).toEqual([]);
  });
});

describe('a filter on $all', () => {
  it('excludes system events', async () => {
    const from = await headPosition(store.client);
    const stream = freshStream();
    await store.client.setStreamMetadata(stream, { maxCount: 10 });
    await store.client.appendToStream(stream, one('Plain'));
    const filter = excludeSystemEvents();
    const [event] = await takeResubscribing<AllStreamResolvedEvent>(
      (last) => store.client.subscribeToAll({ fromPosition: last?.event?.position ?? from, filter }),
      1,
      // Its own, or of its metadata.
      ({ event: one }) => one?.streamId.endsWith(stream) ?? false,
    );
    expect(event?.event?.type).toBe('Plain');
  });

  it('reports a checkpoint for every window of events read, never past an undelivered match', async () => {
    const from = await headPosition(store.client);
    const wanted = freshStream('wanted');
    for (let n = 0; n < 10; n++) {
      await store.client.appendToStream(freshStream('other'), numbered(19));
      await store.client.appendToStream(wanted, one());
    }
    const order: bigint[] = [];
    let checkpoints = 0;
    const filter = streamNameFilter({
      prefixes: [wanted],
      maxSearchWindow: 10,
      checkpointInterval: 2,
      checkpointReached: (_, position) => {
        checkpoints++;
        order.push(position.commit);
        return Promise.resolve();
      },
    });
    const subscription = store.client.subscribeToAll({ fromPosition: from, filter });
    let [matches, last] = [0, 0n];
    for await (const { event } of subscription) {
      last = event?.position.commit ?? 0n;
      order.push(last);
      if (++matches === 10) break;
    }
    await subscription.unsubscribe();
    const log = await collect(store.client.readAll({ fromPosition: from }));
    const passed = log.filter(
      ({ event }) => event && event.position.commit > from.commit && event.position.commit <= last,
    );
    // A checkpoint may equal the position of the match sent before it.
    expect(order).toEqual([...order].sort((a, b) => (a < b ? -1 : a > b ? 1 : 0)));
    // 200 events, and what other specs append, in windows of 20; the last checkpoint may come after the tenth match.
    const windows = Math.floor(passed.length / 20);
    expect(checkpoints).toBeGreaterThanOrEqual(windows - 1);
    expect(checkpoints).toBeLessThanOrEqual(windows + 1);
  });
});
