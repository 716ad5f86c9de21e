import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startEmbeddedEventStore, type EmbeddedEventStore } from '#embedded-event-store/index.js';
import { addedToAppend } from '../testing/tally.js';
import type { EventStore } from './event-store.js';
import { openEventStore } from './eventstoredb.js';

/** The rest of a smaller log would fit into buffers. The server would end the call by itself, and hide a leak. */
const EVENTS = 14_000;
const LONG = 'long-stream';
/** More calls than a connection may have open. */
const ROUNDS = 130;

let dataDir: string;
let server: EmbeddedEventStore;
let store: EventStore;

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'open-calls-'));
  server = await startEmbeddedEventStore({ dataDir });
  const filler = EventStoreDBClient.connectionString(server.connectionString);
  for (let written = 0; written < EVENTS; written += 1_000) {
    const events = Array.from({ length: 1_000 }, (_, n) =>
      jsonEvent({ type: 'Filled', data: { n, text: 'x'.repeat(300) } }),
    );
    await filler.appendToStream(LONG, events);
  }
  await filler.dispose();
  store = await openEventStore({
    connectionString: server.connectionString,
    appendTimeoutMs: 20_000,
    readTimeoutMs: 20_000,
  });
});

afterAll(async () => {
  await store.close();
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
});

/** The server learns of a cancelled call a moment after the client. */
const callsAtRest = async (most: number): Promise<number> => {
  for (let look = 0; look < 3_000 && server.openCalls() > most; look += 1) await delay(20);
  return server.openCalls();
};

/** The stream of appends stays open, as it should. */
const AT_REST = 1;

afterEach(async () => {
  expect(await callsAtRest(AT_REST)).toBeLessThanOrEqual(AT_REST);
});

const first = async (events: AsyncIterable<{ readonly id: string }>): Promise<string | undefined> => {
  for await (const { id } of events) return id;
  return undefined;
};

describe('no call is left open', () => {
  it('by reads of the log that are left at their first event', async () => {
    for (let round = 0; round < ROUNDS; round += 1)
      expect(await first(store.readAll({ after: null }))).toBeDefined();
  });

  it('by reads of a stream that are left early, in both directions', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const direction = round % 2 === 0 ? 'forwards' : 'backwards';
      expect(await first(store.read(LONG, { direction }))).toBeDefined();
    }
  });

  it('by readers that fail', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const reading = (async () => {
        for await (const _ of store.readAll({ after: null })) throw new Error('of the reader');
      })();
      await expect(reading).rejects.toThrow('of the reader');
    }
  });

  it('by subscriptions that are closed: at once, unread, or in the middle of history', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const subscription = store.subscribe({ after: null, categories: [] });
      if (round % 3 > 0) await first(subscription);
      if (round % 3 > 1) await delay(5);
      await subscription.close();
    }
  });
});

describe('one connection’s calls', () => {
  it('suffice for many concurrent slow readers and other reads', async () => {
    const readers = Array.from({ length: 2 * ROUNDS }, () =>
      store.readAll({ after: null })[Symbol.asyncIterator](),
    );
    for (const reader of readers) expect((await reader.next()).done).toBe(false);
    expect(await first(store.read(LONG))).toBeDefined();
    const stream = `tally-${randomUUID()}`;
    await store.append(stream, 'no_stream', [addedToAppend(randomUUID(), 'r')]);
    for (const reader of readers) await reader.return?.();
  });
});
