import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { open, type Database } from 'lmdb';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startEmbeddedEventStore, UnusableDataError } from '../index.js';
import { positionKey, revisionKey } from '../log/log-store.js';
import { backUpFolder } from './backup.js';
import { verifyFolder } from './verify.js';

/** The metadata of `$scavenges`, with which every store begins. */
const OF_NEW_STORE = { events: 1, streams: 2 };
/** Number of the first stream of a test. */
const A = OF_NEW_STORE.streams;

type Tables = (name: string) => Database<Buffer, Buffer>;

describe('the operator’s commands', () => {
  let folder: string;
  let dataDir: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'event-store-operator-'));
    dataDir = join(folder, 'store');
  });

  afterEach(() => {
    rmSync(folder, { recursive: true, force: true });
  });

  const events = (count: number) =>
    Array.from({ length: count }, (_, n) => jsonEvent({ type: 'Noted', data: { n, text: 'x'.repeat(200) } }));

  const using = async (work: (client: EventStoreDBClient) => Promise<void>): Promise<void> => {
    const store = await startEmbeddedEventStore({ dataDir });
    const client = EventStoreDBClient.connectionString(store.connectionString);
    try {
      await work(client);
    } finally {
      await client.dispose();
      await store.stop();
    }
  };

  const tamper = async (change: (table: Tables) => void): Promise<void> => {
    const environment = open({ path: join(dataDir, 'data'), maxDbs: 8 });
    const table = (name: string) =>
      environment.openDB<Buffer, Buffer>(name, { encoding: 'binary', keyEncoding: 'binary' });
    change(table);
    await environment.flushed;
    await environment.close();
  };

  describe('verify', () => {
    beforeEach(async () => {
      await using(async (client) => {
        await client.appendToStream('a', events(5));
        await client.appendToStream('b', events(2));
        await client.setStreamMetadata('b', { maxCount: 1 });
      });
    });

    it('finds nothing in a sound store', async () => {
      const found = await verifyFolder(dataDir);
      expect(found).toMatchObject({ events: OF_NEW_STORE.events + 8, findings: 0, listed: [] });
    });

    it('finds a record whose bytes changed on disk', async () => {
      const file = join(dataDir, 'data', 'data.mdb');
      const bytes = readFileSync(file);
      // Unused pages hold copies of the record, so change every copy.
      for (let at = bytes.indexOf('"n":3,'); at >= 0; at = bytes.indexOf('"n":3,', at)) bytes[at + 4] = 0x39;
      writeFileSync(file, bytes);
      const { findings, listed } = await verifyFolder(dataDir);
      expect(findings).toBe(1);
      expect(listed[0]).toMatch(/does not match its checksum/);
    });

    it.each<[string, (table: Tables) => void, readonly RegExp[]]>([
      [
        'an event missing from the index, and the gap',
        (table) => void table('index').remove(revisionKey(A, 2n)),
        [/no entry for the event at position \d+, 2@a/, /a gap from 1 to 3/, /8 entries for 9 events/],
      ],
      [
        'a last event missing from log and index',
        (table) => {
          const key = revisionKey(A, 4n);
          void table('log').remove(table('index').get(key)!);
          void table('index').remove(key);
        },
        [/last event of the stream a, revision 4/],
      ],
      [
        'a dangling index entry',
        (table) => void table('index').put(revisionKey(A, 5n), positionKey(1n)),
        [/events after revision 4/],
      ],
    ])('finds %s', async (_, change, findings) => {
      await tamper(change);
      const { listed } = await verifyFolder(dataDir);
      for (const finding of findings) expect(listed.join('\n')).toMatch(finding);
    });

    it('refuses a folder without a store, and creates none', async () => {
      await expect(verifyFolder(join(folder, 'nothing'))).rejects.toThrow(UnusableDataError);
      expect(existsSync(join(folder, 'nothing', 'data', 'data.mdb'))).toBe(false);
    });
  });

  describe('backup', () => {
    it('refuses a target folder that is not empty', async () => {
      await using(async (client) => {
        await client.appendToStream('a', events(1));
      });
      await expect(backUpFolder(dataDir, dataDir)).rejects.toThrow(/is not empty/);
    });

    it('beside another one to the same folder is whole, and neither deletes the other', async () => {
      await using(async (client) => {
        await client.appendToStream('a', events(1));
      });
      const copies = join(folder, 'copies');
      const copy = join(copies, 'copy');
      const both = await Promise.allSettled([1, 2].map(() => backUpFolder(dataDir, copy)));
      expect(both.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
      const [lost] = both.filter(({ status }) => status === 'rejected') as PromiseRejectedResult[];
      expect(String(lost!.reason)).toMatch(/was filled meanwhile/);
      expect(await verifyFolder(copy)).toMatchObject({ findings: 0 });
      expect(readdirSync(copies)).toEqual(['copy']);
    });
  });
});
