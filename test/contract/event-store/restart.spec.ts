import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { connect, streamNameFilter, type EventStoreDBClient } from './support/client.js';
import { collect, freshStream, numbered, one, rejection, revisions, take } from './support/events.js';
import { EXTERNAL_URL, launchStore, type LaunchedStore } from './support/store-under-test.js';

/** CANCELLED, UNKNOWN, INTERNAL, UNAVAILABLE: of calls that end with the server. */
const LEFT_OPEN = [1, 2, 13, 14];

/** A server that runs already cannot be restarted from here. */
const whenStarted = EXTERNAL_URL ? describe.skip : describe;

whenStarted('after a restart', () => {
  let dataDir: string;
  let store: LaunchedStore;
  let client: EventStoreDBClient;

  const start = async (): Promise<void> => {
    store = await launchStore(dataDir);
    client = connect(store.connectionString);
  };
  const stop = async (): Promise<void> => {
    await client.dispose();
    await store.stop();
  };
  const restart = async (): Promise<void> => {
    await stop();
    await start();
  };

  beforeAll(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'event-store-restart-'));
  });
  beforeEach(start);
  afterEach(stop);
  afterAll(() => {
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('events, positions and times are the same', async () => {
    const stream = freshStream();
    await client.appendToStream(stream, numbered(50));
    const before = await collect(client.readStream(stream));
    await restart();
    expect(await collect(client.readStream(stream))).toEqual(before);
  });

  it('numbering and positions continue', async () => {
    const stream = freshStream();
    const first = await client.appendToStream(stream, numbered(3));
    await restart();
    const second = await client.appendToStream(stream, one(), { expectedRevision: 2n });
    expect(second.nextExpectedRevision).toBe(3n);
    expect(second.position?.commit).toBeGreaterThan(first.position?.commit ?? 0n);
    expect(revisions(await collect(client.readStream(stream)))).toEqual([0n, 1n, 2n, 3n]);
  });

  it('new streams do not mix with old ones', async () => {
    const [before, after] = [freshStream(), freshStream()];
    await client.appendToStream(before, numbered(2));
    await client.setStreamMetadata(freshStream(), { maxCount: 1 });
    await restart();
    await client.appendToStream(after, numbered(2));
    for (const name of [before, after]) {
      const events = await collect(client.readStream(name));
      expect(events.map(({ event }) => event?.streamId)).toEqual([name, name]);
    }
  });

  it.each([
    ['at a revision is still recognised', 'no_stream', 2],
    ['at any revision is a new one: recent ids are not kept', 'any', 4],
  ] as const)('a repeated append %s', async (_, expectedRevision, length) => {
    const stream = freshStream();
    const events = numbered(2);
    await client.appendToStream(stream, events, { expectedRevision });
    await restart();
    const again = await client.appendToStream(stream, events, { expectedRevision });
    expect(again.nextExpectedRevision).toBe(BigInt(length - 1));
    expect(await collect(client.readStream(stream))).toHaveLength(length);
  });

  it('metadata, deletion and tombstones hold', async () => {
    const [short, deleted, closed] = [freshStream(), freshStream(), freshStream()];
    for (const name of [short, deleted, closed]) await client.appendToStream(name, numbered(4));
    await client.setStreamMetadata(short, { maxCount: 1 });
    await client.deleteStream(deleted);
    await client.tombstoneStream(closed);
    await restart();
    expect(revisions(await collect(client.readStream(short)))).toEqual([3n]);
    expect(await rejection(collect(client.readStream(deleted)))).toMatchObject({ type: 'stream-not-found' });
    expect(await rejection(collect(client.readStream(closed)))).toMatchObject({ type: 'stream-deleted' });
    await client.appendToStream(deleted, one());
    expect(revisions(await collect(client.readStream(deleted)))).toEqual([4n]);
  });

  it('a subscription resumes from a position taken before', async () => {
    const stream = freshStream('resumed');
    const { position } = await client.appendToStream(stream, numbered(2));
    await client.appendToStream(stream, numbered(2));
    await restart();
    const filter = streamNameFilter({ prefixes: [stream] });
    const events = await take(client.subscribeToAll({ fromPosition: position ?? 'start', filter }), 2);
    expect(revisions(events)).toEqual([2n, 3n]);
  });

  it('a stop ends appends with a result or an unknown outcome, and subscriptions with an error', async () => {
    const stream = freshStream();
    await client.appendToStream(stream, one());
    const subscription = client.subscribeToStream(stream);
    const ended = rejection(collect(subscription));
    await new Promise((resolve) => subscription.once('caughtUp', resolve));
    const appends = Array.from({ length: 50 }, () => client.appendToStream(freshStream(), one()));
    const outcomes = Promise.allSettled(appends);
    await appends[0];
    await store.stop();
    expect(LEFT_OPEN).toContain((await ended).code);
    for (const outcome of await outcomes) {
      if (outcome.status === 'rejected')
        expect(LEFT_OPEN).toContain((outcome.reason as { code: number }).code);
    }
  });
});
