import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import {
  jsonEvent,
  KurrentDBClient,
  NO_STREAM,
  persistentSubscriptionToStreamSettingsFromDefaults,
  START,
  streamNameFilter,
} from '@kurrent/kurrentdb-client';
import { startChildStore, type ChildStore } from './support/child-store.js';

/**
 * The successor of @eventstore/db-client: the same protocol, with reads through a native library. Both clients register
 * their messages in one global namespace, so this process loads neither the other client nor the server.
 */
describe('KurrentDB’s client', () => {
  let dataDir: string;
  let store: ChildStore | undefined;
  let client: KurrentDBClient;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'event-store-other-client-'));
    const external = process.env['EVENTSTORE_URL'];
    if (!external) store = await startChildStore(dataDir);
    const address = (external ?? store?.connectionString ?? '').replace(/^esdb/, 'kurrentdb');
    client = KurrentDBClient.connectionString(address);
  });

  afterAll(async () => {
    await client.dispose();
    await store?.end('SIGTERM');
    rmSync(dataDir, { recursive: true, force: true });
  });

  const events = (count: number) =>
    Array.from({ length: count }, (_, n) =>
      jsonEvent({ type: 'Counted', data: { n }, metadata: { by: 'smoke' } }),
    );
  const freshStream = (): string => `smoke-${randomUUID()}`;

  it('appends and reads a stream both ways', async () => {
    const stream = freshStream();
    const appended = events(5);
    const result = await client.appendToStream(stream, appended, { streamState: NO_STREAM });
    expect(result).toMatchObject({ success: true, nextExpectedRevision: 4n });
    const read = async (direction: 'forwards' | 'backwards') => {
      const seen = [];
      const from = direction === 'forwards' ? ('start' as const) : ('end' as const);
      for await (const { event } of client.readStream(stream, { direction, fromRevision: from }))
        seen.push(event);
      return seen;
    };
    const forwards = await read('forwards');
    expect(forwards.map((event) => event?.id)).toEqual(appended.map(({ id }) => id));
    expect(forwards[2]).toMatchObject({
      type: 'Counted',
      data: { n: 2 },
      metadata: { by: 'smoke' },
      revision: 2n,
    });
    expect((await read('backwards')).map((event) => event?.revision)).toEqual([4n, 3n, 2n, 1n, 0n]);
  });

  it('is refused at a wrong revision, and receives the actual one', async () => {
    const stream = freshStream();
    await client.appendToStream(stream, events(2));
    await expect(client.appendToStream(stream, events(1), { streamState: 7n })).rejects.toMatchObject({
      type: 'wrong-expected-version',
      actualState: 1n,
    });
  });

  it('receives the first result again for the same events', async () => {
    const stream = freshStream();
    const once = events(3);
    const first = await client.appendToStream(stream, once, { streamState: NO_STREAM });
    const again = await client.appendToStream(stream, once, { streamState: NO_STREAM });
    expect(again.nextExpectedRevision).toBe(first.nextExpectedRevision);
    expect(again.position).toEqual(first.position);
  });

  it('finds no stream that was deleted', async () => {
    const stream = freshStream();
    await client.appendToStream(stream, events(1));
    await client.deleteStream(stream);
    const read = async (): Promise<void> => {
      for await (const _ of client.readStream(stream));
    };
    await expect(read()).rejects.toMatchObject({ type: 'stream-not-found' });
  });

  it('follows a filtered log from history to live events', async () => {
    const stream = freshStream();
    await client.appendToStream(stream, events(2));
    const subscription = client.subscribeToAll({
      fromPosition: START,
      filter: streamNameFilter({ prefixes: [stream] }),
    });
    const revisions: (bigint | undefined)[] = [];
    for await (const { event } of subscription) {
      revisions.push(event?.revision);
      if (revisions.length === 2) await client.appendToStream(stream, events(1));
      if (revisions.length === 3) break;
    }
    expect(revisions).toEqual([0n, 1n, 2n]);
  });

  it('consumes a persistent subscription', async () => {
    const stream = freshStream();
    await client.appendToStream(stream, events(3));
    const settings = persistentSubscriptionToStreamSettingsFromDefaults({ startFrom: START });
    await client.createPersistentSubscriptionToStream(stream, 'readers', settings);
    const subscription = client.subscribeToPersistentSubscriptionToStream(stream, 'readers');
    const numbers: unknown[] = [];
    for await (const resolved of subscription) {
      numbers.push(resolved.event?.data);
      await subscription.ack(resolved);
      if (numbers.length === 3) break;
    }
    expect(numbers).toEqual([{ n: 0 }, { n: 1 }, { n: 2 }]);
  });

  it('pins events to consumers by their correlation', async () => {
    const stream = freshStream();
    const settings = persistentSubscriptionToStreamSettingsFromDefaults({
      startFrom: START,
      consumerStrategyName: 'PinnedByCorrelation',
    });
    await client.createPersistentSubscriptionToStream(stream, 'readers', settings);
    const info = await client.getPersistentSubscriptionToStreamInfo(stream, 'readers');
    expect(info.settings.consumerStrategyName).toBe('PinnedByCorrelation');
    const seen = new Map<unknown, Set<number>>();
    let count = 0;
    const consumers = [0, 1].map((reader) => {
      const subscription = client.subscribeToPersistentSubscriptionToStream(stream, 'readers');
      subscription.on('data', (resolved) => {
        const { $correlationId } = resolved.event!.metadata as { $correlationId: string };
        seen.set($correlationId, (seen.get($correlationId) ?? new Set()).add(reader));
        count += 1;
        void subscription.ack(resolved);
      });
      return subscription;
    });
    await Promise.all(consumers.map((subscription) => once(subscription, 'confirmation')));
    const correlated = Array.from({ length: 40 }, (_, n) =>
      jsonEvent({ type: 'Counted', data: { n }, metadata: { $correlationId: `c-${n % 8}` } }),
    );
    await client.appendToStream(stream, correlated);
    while (count < 40) await delay(20);
    expect([...seen.values()].map((readers) => readers.size)).toEqual([1, 1, 1, 1, 1, 1, 1, 1]);
    await Promise.all(consumers.map((subscription) => subscription.unsubscribe()));
  });

  it('stores and reads metadata of a stream', async () => {
    const stream = freshStream();
    await client.appendToStream(stream, events(5));
    await client.setStreamMetadata(stream, { maxCount: 2 });
    expect((await client.getStreamMetadata(stream)).metadata).toMatchObject({ maxCount: 2 });
    const seen: (bigint | undefined)[] = [];
    for await (const { event } of client.readStream(stream)) seen.push(event?.revision);
    expect(seen).toEqual([3n, 4n]);
  });
});
