import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventStoreDBClient } from '@eventstore/db-client';
import { afterAll, beforeAll } from '@jest/globals';
import { startEmbeddedEventStore, type EmbeddedEventStoreOptions } from '@app/embedded-event-store/index.js';
import { patient } from './patient.js';

/** Address of a real EventStoreDB to run the suite against; without it, the suite starts the embedded server. */
export const EXTERNAL_URL = process.env.EVENTSTORE_URL;

/** The store that a contract spec runs against, and its client. */
export interface StoreUnderTest {
  readonly client: EventStoreDBClient;
  readonly connectionString: string;
}

/** Starts the store before a spec's tests and stops it afterwards. Its members are available only within tests. */
export const storeUnderTest = (options: Partial<EmbeddedEventStoreOptions> = {}): StoreUnderTest => {
  let client: EventStoreDBClient | undefined;
  let connectionString = '';
  let release = async (): Promise<void> => undefined;

  beforeAll(async () => {
    if (EXTERNAL_URL) {
      connectionString = patient(EXTERNAL_URL);
    } else {
      const dataDir = mkdtempSync(join(tmpdir(), 'event-store-contract-'));
      const store = await startEmbeddedEventStore({ dataDir, ...options });
      connectionString = patient(store.connectionString);
      release = async () => {
        await store.stop();
        rmSync(dataDir, { recursive: true, force: true });
      };
    }
    client = EventStoreDBClient.connectionString(connectionString);
  });

  afterAll(async () => {
    await client?.dispose();
    await release();
  });

  return {
    get client() {
      if (!client) throw new Error('The store is available only within tests.');
      return client;
    },
    get connectionString() {
      return connectionString;
    },
  };
};
