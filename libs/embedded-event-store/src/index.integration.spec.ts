import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startEmbeddedEventStore, UnusableDataError } from './index.js';

describe('startEmbeddedEventStore', () => {
  let dataDir: string;

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'event-store-'));
  });

  afterEach(() => {
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('keeps appended events across a restart', async () => {
    const event = jsonEvent({ type: 'Noted', data: { text: 'é' }, metadata: { by: 'me' } });
    const first = await startEmbeddedEventStore({ dataDir });
    const firstClient = EventStoreDBClient.connectionString(first.connectionString);
    const { position } = await firstClient.appendToStream('note-1', event, { expectedRevision: 'no_stream' });
    await firstClient.dispose();
    await first.stop();

    const second = await startEmbeddedEventStore({ dataDir });
    const client = EventStoreDBClient.connectionString(second.connectionString);
    const read = [];
    for await (const resolved of client.readStream('note-1')) read.push(resolved.event);
    await client.dispose();
    await second.stop();

    expect(read).toHaveLength(1);
    expect(read[0]).toMatchObject({
      id: event.id,
      revision: 0n,
      data: { text: 'é' },
      metadata: { by: 'me' },
      position,
    });
  });

  it('refuses a folder that another server holds, and opens it after that server stops', async () => {
    const first = await startEmbeddedEventStore({ dataDir });
    await expect(startEmbeddedEventStore({ dataDir })).rejects.toThrow(UnusableDataError);
    await first.stop();
    const second = await startEmbeddedEventStore({ dataDir });
    await second.stop();
  });
});
