import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventStoreDBClient, jsonEvent, streamNameFilter } from '@eventstore/db-client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { startEmbeddedEventStore, type EmbeddedEventStore, type Limits } from './index.js';
import { LogStore } from './log/log-store.js';

describe('the limits of a server', () => {
  let dataDir: string;
  let store: EmbeddedEventStore;
  let client: EventStoreDBClient;

  /** For the cases of one block: a server with these limits, and a client. */
  const served = (limits: Partial<Limits>): void => {
    beforeAll(async () => {
      dataDir = mkdtempSync(join(tmpdir(), 'event-store-'));
      store = await startEmbeddedEventStore({ dataDir, limits });
      client = EventStoreDBClient.connectionString(store.connectionString);
    });

    afterAll(async () => {
      await client.dispose();
      await store.stop();
      rmSync(dataDir, { recursive: true, force: true });
    });
  };

  describe('of what it takes', () => {
    // A slow disk writes an append later than the limit of the other block.
    served({ commitTimeoutMs: 60_000 });

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

  describe('bound the wait for a durable write', () => {
    served({ commitTimeoutMs: 1_000 });

    const write = LogStore.prototype.write;
    let letGo: () => void;

    beforeEach(() => {
      const held = new Promise<void>((resolve) => (letGo = resolve));
      jest.spyOn(LogStore.prototype, 'write').mockImplementationOnce(async function (
        this: LogStore,
        ...args
      ) {
        await held;
        await write.apply(this, args);
      });
    });

    afterEach(() => {
      letGo();
      jest.restoreAllMocks();
    });

    it('also of the same append again, which reveals the outcome once there is one', async () => {
      const event = jsonEvent({ type: 'Late', data: {} });
      const append = () => client.appendToStream('late', event, { expectedRevision: 'no_stream' });
      await expect(append()).rejects.toMatchObject({ type: 'deadline-exceeded' });
      await expect(append()).rejects.toMatchObject({ type: 'deadline-exceeded' });
      const filter = streamNameFilter({ prefixes: ['late'] });
      const written = once(client.subscribeToAll({ filter }), 'data');
      letGo();
      await written;
      expect(await append()).toMatchObject({ nextExpectedRevision: 0n });
    });
  });
});
