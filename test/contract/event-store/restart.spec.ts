import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import { connect, type EventStoreDBClient } from './support/client.js';
import { collect, freshStream, numbered, one, rejection, revisions } from './support/events.js';
import { startChildStore, type ChildStore } from './support/child-store.js';
import { EXTERNAL_URL } from './support/store-under-test.js';

/** CANCELLED, UNKNOWN, INTERNAL, UNAVAILABLE: of calls that end with the server. */
const LEFT_OPEN = [1, 2, 13, 14];

/** A server that runs already cannot be restarted from here. */
const whenStarted = EXTERNAL_URL ? describe.skip : describe;

whenStarted('after a restart', () => {
  let dataDir: string;
  let store: ChildStore;
  let client: EventStoreDBClient;

  const start = async (): Promise<void> => {
    store = await startChildStore(dataDir);
    client = connect(store.connectionString);
  };
  const stop = async (): Promise<void> => {
    await client.dispose();
    await store.end('SIGTERM');
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

  it('events are the same, numbering and positions continue, and a repeated append is recognised', async () => {
    const [stream, repeated] = [freshStream(), freshStream()];
    const events = numbered(2);
    const first = await client.appendToStream(stream, numbered(50));
    await client.appendToStream(repeated, events, { expectedRevision: 'no_stream' });
    const before = await collect(client.readStream(stream));
    await restart();
    expect(await collect(client.readStream(stream))).toEqual(before);
    await client.appendToStream(repeated, events, { expectedRevision: 'no_stream' });
    expect(await collect(client.readStream(repeated))).toHaveLength(2);
    const second = await client.appendToStream(stream, one(), { expectedRevision: 49n });
    expect(second.nextExpectedRevision).toBe(50n);
    expect(second.position?.commit).toBeGreaterThan(first.position?.commit ?? 0n);
    const other = freshStream();
    await client.appendToStream(other, numbered(2));
    expect((await collect(client.readStream(other))).map(({ event }) => event?.streamId)).toEqual([
      other,
      other,
    ]);
  });

  it('metadata holds', async () => {
    const stream = freshStream();
    await client.appendToStream(stream, numbered(4));
    await client.setStreamMetadata(stream, { maxCount: 1 });
    await restart();
    expect(revisions(await collect(client.readStream(stream)))).toEqual([3n]);
  });

  it('a stop ends appends with a result or an unknown outcome, and subscriptions with an error', async () => {
    const subscription = client.subscribeToAll({ fromPosition: 'end' });
    const ended = rejection(collect(subscription));
    await once(subscription, 'confirmation');
    const appends = Array.from({ length: 50 }, () => client.appendToStream(freshStream(), one()));
    const outcomes = Promise.allSettled(appends);
    await appends[0];
    await store.end('SIGTERM');
    expect(LEFT_OPEN).toContain((await ended).code);
    for (const outcome of await outcomes) {
      if (outcome.status === 'rejected')
        expect(LEFT_OPEN).toContain((outcome.reason as { code: number }).code);
    }
  });
});
