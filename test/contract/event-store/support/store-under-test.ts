import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { OTHER_STORE, startChildStore, type EmbeddedOptions } from './child-store.js';
import { connect, type EventStoreDBClient, patient } from './client.js';

/** Address of a running event store to test; without it, the specs start the store that the environment names. */
export const EXTERNAL_URL = process.env['EVENTSTORE_URL'];

/** Whether the specs test the embedded store. */
export const IS_EMBEDDED = !EXTERNAL_URL && !OTHER_STORE;

/** The store that a contract spec runs against, and its client. */
export interface StoreUnderTest {
  readonly client: EventStoreDBClient;
  readonly connectionString: string;
  /** A further client, with a connection of its own. It connects with its first call. */
  another(): EventStoreDBClient;
}

/** A busy disk may take longer than the embedded store waits by default. */
const COMMIT_TIMEOUT_MS = 20_000;

/** Starts the store before a spec's tests and stops it afterwards. Its members are available only within tests. */
export const storeUnderTest = (options: EmbeddedOptions = {}): StoreUnderTest => {
  const clients: EventStoreDBClient[] = [];
  let connectionString = '';
  let release = async (): Promise<void> => undefined;

  /** Clients with the same options share one TCP connection. */
  const another = (): EventStoreDBClient => {
    const client = connect(`${connectionString}&keepAliveInterval=${10_000 + clients.length}`);
    clients.push(client);
    return client;
  };

  beforeAll(async () => {
    if (EXTERNAL_URL) {
      connectionString = patient(EXTERNAL_URL);
    } else {
      const dataDir = mkdtempSync(join(tmpdir(), 'event-store-contract-'));
      const store = await startChildStore(dataDir, { commitTimeoutMs: COMMIT_TIMEOUT_MS, ...options });
      connectionString = store.connectionString;
      release = async () => {
        await store.end('SIGTERM');
        rmSync(dataDir, { recursive: true, force: true });
      };
    }
    another();
  });

  afterAll(async () => {
    await Promise.all(clients.map((client) => client.dispose()));
    await release();
  });

  return {
    get client() {
      if (!clients[0]) throw new Error('The store is available only within tests.');
      return clients[0];
    },
    get connectionString() {
      return connectionString;
    },
    another,
  };
};
