import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedEventStore } from '#embedded-event-store/index.js';
import { addedToAppend } from '../testing/tally.js';
import { collect, type EventStore } from './event-store.js';
import { openEventStore } from './eventstoredb.js';
import { newEvents } from './testing/store-under-test.js';

const TIMEOUT_MS = 10_000;
let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'damaged-stream-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const served = async (use: (store: EventStore) => Promise<void>): Promise<void> => {
  const server = await startEmbeddedEventStore({ dataDir, report: () => undefined });
  const { connectionString } = server;
  const store = await openEventStore({
    connectionString,
    appendTimeoutMs: TIMEOUT_MS,
    readTimeoutMs: TIMEOUT_MS,
  });
  try {
    await use(store);
  } finally {
    await store.close();
    await server.stop();
  }
};

it('A damaged record fails the reads of its stream with its name; a read of the log has none', async () => {
  await served(async (store) => {
    await store.append('tally-bad', 'no_stream', [addedToAppend(randomUUID(), 'precious-text')]);
    // A start verifies the newest records.
    await store.append('tally-good', 'no_stream', newEvents(1_100));
  });
  const file = join(dataDir, 'data', 'data.mdb');
  const bytes = readFileSync(file);
  for (let at = bytes.indexOf('precious-text'); at >= 0; at = bytes.indexOf('precious-text', at))
    bytes[at] = 0x58;
  writeFileSync(file, bytes);
  await served(async (store) => {
    for (const direction of ['forwards', 'backwards'] as const)
      await expect(collect(store.read('tally-bad', { direction }))).rejects.toMatchObject({
        name: 'StoreDamaged',
        message: expect.stringMatching(/^The stream tally-bad cannot be read: .*data\.mdb is damaged/),
      });
    await expect(collect(store.readAll())).rejects.toMatchObject({
      name: 'StoreDamaged',
      message: expect.stringMatching(/^The data file/),
    });
    expect(await collect(store.read('tally-good', { limit: 2 }))).toHaveLength(2);
  });
});
