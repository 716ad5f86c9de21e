import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startEmbeddedEventStore, type EmbeddedEventStore } from '#embedded-event-store/index.js';
import { startRelay, type Relay } from '../testing/relay.js';
import { addedToAppend } from '../testing/tally.js';
import { StoreUnavailable } from './errors.js';
import { openEventStore, type EventStoreDb } from './eventstoredb.js';

/** An answer on a busy machine takes a while, too. */
const READ_TIMEOUT_MS = 200;
const STUCK_AFTER_MS = 4 * READ_TIMEOUT_MS;
const GONE = 'the event store does not answer; calls to it are tried again';

let dataDir: string;
let server: EmbeddedEventStore;
let relay: Relay;
let store: EventStoreDb;
/** While the connection was opened. */
let renewedBefore: number;
const said: string[] = [];

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'kept-connection-'));
  server = await startEmbeddedEventStore({ dataDir });
});

afterEach(async () => {
  await store.close();
  await relay.stop();
});

afterAll(async () => {
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

const open = async (): Promise<void> => {
  relay = await startRelay(server.port);
  store = await openEventStore({
    connectionString: `esdb://127.0.0.1:${relay.port}?tls=false`,
    appendTimeoutMs: 2 * READ_TIMEOUT_MS,
    readTimeoutMs: READ_TIMEOUT_MS,
    stuckAfterMs: STUCK_AFTER_MS,
    report: (message) => said.push(message),
  });
  await until(works);
  said.length = 0;
  renewedBefore = store.connection.renewals;
};

const renewals = (): number => store.connection.renewals - renewedBefore;

const append = () => store.append(`tally-${randomUUID()}`, 'no_stream', [addedToAppend(randomUUID(), 'r')]);

const until = async (condition: () => Promise<boolean> | boolean): Promise<void> => {
  for (let look = 0; look < 400; look += 1) {
    if (await Promise.resolve(condition()).catch(() => false)) return;
    await delay(50);
  }
  throw new Error('It did not come true');
};
const works = async (): Promise<boolean> => {
  await store.head();
  await append();
  return true;
};

describe('a dead connection, while others work', () => {
  it('is replaced without a restart, and its subscriptions end with an error', async () => {
    await open();
    const subscription = store.subscribe({ after: null, categories: ['tally'] });
    const reading = (async () => {
      for await (const _ of subscription);
    })();
    reading.catch(() => undefined);
    await until(() => store.connection.openCalls().subscription === 1);
    relay.freeze();
    await until(works);
    await expect(reading).rejects.toBeInstanceOf(StoreUnavailable);
    await subscription.close();
    expect(store.connection.beyondHelp).toBe(false);
    // A busy machine may renew it more than once.
    expect(renewals()).toBeGreaterThan(0);
    expect(said[0]).toBe(GONE);
    expect(said.at(-1)).toContain('over a new connection');
    expect(said.filter((line) => line !== GONE && !line.includes('answers again'))).toEqual([]);
    // Nothing is left of the old connection.
    await until(() => server.openCalls() <= 1);
    expect(store.connection.openCalls()).toEqual({ append: 1, read: 0, subscription: 0 });
  });

  it('counts as unusable while new ones fail too, until one works', async () => {
    await open();
    // Connections that only check the store succeed. Those that would replace the old one fail.
    const first = relay.taken;
    relay.freezeNext((index) => (index - first) % 2 === 1);
    relay.freeze();
    // It says so once it has renewed the connection in vain.
    await until(() => said.some((line) => line.includes('must be restarted')));
    expect(store.connection.beyondHelp).toBe(true);
    expect(renewals()).toBeGreaterThanOrEqual(3);
    relay.freezeNext(() => false);
    await until(works);
    expect(store.connection.beyondHelp).toBe(false);
  });
});

describe('a store that answers no one', () => {
  it('makes no process count as unusable, and its connections are kept', async () => {
    await open();
    relay.freezeNext(() => true);
    relay.freeze();
    const before = relay.taken;
    // It has probed over a fresh connection several times.
    await until(() => relay.taken >= before + 4);
    await expect(store.head()).rejects.toBeInstanceOf(StoreUnavailable);
    expect([renewals(), store.connection.beyondHelp, said]).toEqual([0, false, [GONE]]);
  });
});
