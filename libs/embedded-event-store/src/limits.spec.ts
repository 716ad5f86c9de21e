import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binaryEvent, EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startEmbeddedEventStore, type EmbeddedEventStore } from './index.js';

describe('the limits of a server', () => {
  let dataDir: string;
  let store: EmbeddedEventStore;
  let client: EventStoreDBClient;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'event-store-'));
    const limits = { maxSubscriptions: 2, maxAppendBytes: 1_000 };
    store = await startEmbeddedEventStore({ dataDir, limits });
    client = EventStoreDBClient.connectionString(store.connectionString);
  });

  afterAll(async () => {
    await client.dispose();
    await store.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('refuse one subscription too many, and take it when another has ended', async () => {
    const open = [client.subscribeToAll(), client.subscribeToStream('a')];
    await Promise.all(open.map((subscription) => once(subscription, 'confirmation')));
    const refused = client.subscribeToAll();
    const [error] = (await once(refused, 'error')) as [{ code: number }];
    expect(error.code).toBe(8);

    await open[0]?.unsubscribe();
    let confirmed = false;
    // The server learns of the end a moment after the client.
    while (!confirmed) {
      const next = client.subscribeToAll();
      next.on('error', () => undefined);
      confirmed = await new Promise<boolean>((resolve) => {
        next.once('confirmation', () => {
          resolve(true);
        });
        next.once('error', () => {
          resolve(false);
        });
      });
      await next.unsubscribe();
    }
    await open[1]?.unsubscribe();
  });

  it('bound the size of an append', async () => {
    const ofSize = (bytes: number) => binaryEvent({ type: 'Blob', data: Buffer.alloc(bytes) });
    await expect(client.appendToStream('b', ofSize(1_001))).rejects.toMatchObject({ maxAppendSize: 1_000 });
    await client.appendToStream('b', ofSize(1_000));
  });

  it('bound the length of a stream name and of an event type', async () => {
    const event = (type: string) => jsonEvent({ type, data: {} });
    await expect(client.appendToStream('n'.repeat(1_025), event('T'))).rejects.toThrow(
      /longer than 1024 bytes/,
    );
    await expect(client.appendToStream('n', event('T'.repeat(1_025)))).rejects.toThrow(
      /longer than 1024 bytes/,
    );
    await client.appendToStream('n'.repeat(1_024), event('T'.repeat(1_024)));
  });
});
