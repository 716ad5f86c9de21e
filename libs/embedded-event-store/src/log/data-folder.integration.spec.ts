import { mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { binaryEvent, EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { open } from 'lmdb';
import { startEmbeddedEventStore, UnusableDataError, type EmbeddedEventStoreOptions } from '../index.js';

describe('a data folder', () => {
  let dataDir: string;

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'event-store-'));
  });

  afterEach(() => {
    rmSync(dataDir, { recursive: true, force: true });
  });

  const dataFile = (): string => join(dataDir, 'data', 'data.mdb');

  const served = async <T>(
    use: (client: EventStoreDBClient) => Promise<T>,
    options: Partial<EmbeddedEventStoreOptions> = {},
  ): Promise<T> => {
    const store = await startEmbeddedEventStore({ dataDir, report: () => undefined, ...options });
    const client = EventStoreDBClient.connectionString(store.connectionString);
    try {
      return await use(client);
    } finally {
      await client.dispose();
      await store.stop();
    }
  };

  const note = (text: string) => jsonEvent({ type: 'Noted', data: { text } });

  const damage = (text: string): void => {
    const bytes = readFileSync(dataFile());
    // Unused pages may hold copies.
    let copies = 0;
    for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + 1), copies++)
      bytes.write('#', at);
    expect(copies).toBeGreaterThan(0);
    writeFileSync(dataFile(), bytes);
  };

  it('of another format is refused with a message that names both formats', async () => {
    await served((client) => client.appendToStream('note-1', note('a')));
    const environment = open({ path: join(dataDir, 'data'), maxDbs: 8 });
    await environment.openDB('about', { encoding: 'string' }).put('format', '99');
    await environment.close();
    await expect(startEmbeddedEventStore({ dataDir })).rejects.toThrow(/format 99.*format 1/);
  });

  it('with wrong checksums in its last records is refused', async () => {
    await served((client) => client.appendToStream('note-1', note('precious-text')));
    damage('precious-text');
    const refused = startEmbeddedEventStore({ dataDir });
    await expect(refused).rejects.toThrow(UnusableDataError);
    await expect(refused).rejects.toThrow(/position \d+.*checksum.*Restore a backup/);
  });

  it('with a truncated data file is refused', async () => {
    await served((client) =>
      client.appendToStream('note-1', binaryEvent({ type: 'Blob', data: Buffer.alloc(500_000) })),
    );
    truncateSync(dataFile(), statSync(dataFile()).size - 100_000);
    await expect(startEmbeddedEventStore({ dataDir })).rejects.toThrow(/is truncated/);
  });

  it('with a file of another format is refused', async () => {
    await served(() => Promise.resolve());
    writeFileSync(dataFile(), Buffer.alloc(100_000, 'not a database'));
    await expect(startEmbeddedEventStore({ dataDir })).rejects.toThrow(UnusableDataError);
  });

  it('takes names of streams and types of events up to 1,024 bytes', async () => {
    const [name, type] = ['n', 'T'].map((letter) => letter.repeat(1_024));
    const append = (stream: string, of: string) => (client: EventStoreDBClient) =>
      client.appendToStream(stream, jsonEvent({ type: of, data: {} }));
    await served(append(name!, type!));
    for (const tooLong of [append(`${name}n`, 'T'), append('n', `${type}T`)])
      await expect(served(tooLong)).rejects.toThrow(/longer than 1024 bytes/);
  });

  it('on a full disk accepts reads and refuses appends', async () => {
    await served((client) => client.appendToStream('note-1', note('a')));
    const everything = { limits: { reservedDiskBytes: Number.MAX_SAFE_INTEGER } };
    await served(async (client) => {
      await expect(client.appendToStream('note-1', note('b'))).rejects.toThrow(/disk .* is full/);
      let count = 0;
      for await (const _ of client.readStream('note-1')) count++;
      expect(count).toBe(1);
    }, everything);
    await served((client) => client.appendToStream('note-1', note('c'), { expectedRevision: 0n }));
  });
});
