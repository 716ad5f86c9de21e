import { afterAll, beforeAll } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { StoredEvent } from '../../core/event.js';
import { addedToAppend } from '../../testing/tally.js';
import type { EventStore, SubscribeOptions } from '../event-store.js';
import { openEventStore } from '../eventstoredb.js';
import { startServer, type StartedServer } from './server-under-test.js';

/** Milliseconds. A pause of a slow machine is no outage. */
const ANSWER_TIMEOUT_MS = 10_000;
export const newStream = (category = 'tally'): string => `${category}-${randomUUID()}`;

export const newEvents = (count: number) =>
  Array.from({ length: count }, (_, index) => addedToAppend(randomUUID(), `r${index}`));

/** The port over an embedded server, with one client for the whole spec. The members are available only within tests. */
export const storeUnderTest = () => {
  let dataDir: string;
  let server: StartedServer;
  let store: EventStore;

  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'event-store-port-'));
    server = await startServer(dataDir);
    const { connectionString } = server;
    store = await openEventStore({
      connectionString,
      appendTimeoutMs: ANSWER_TIMEOUT_MS,
      readTimeoutMs: ANSWER_TIMEOUT_MS,
      mayBeginWith: new Set(['Carried']),
    });
  });

  afterAll(async () => {
    await store.close();
    await server.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  /** Opens a subscription, takes the given number of events, closes it. */
  const take = async (count: number, options: SubscribeOptions, meanwhile?: () => Promise<unknown>) => {
    const subscription = store.subscribe(options);
    const seen: StoredEvent[] = [];
    try {
      const reading = (async () => {
        for await (const event of subscription) {
          seen.push(event);
          if (seen.length === count) return;
        }
      })();
      await meanwhile?.();
      await reading;
    } finally {
      await subscription.close();
    }
    return seen;
  };

  return {
    get store() {
      return store;
    },
    get connectionString() {
      return server.connectionString;
    },
    take,
  };
};
