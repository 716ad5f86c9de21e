import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { startEmbeddedEventStore, type EmbeddedEventStore } from '../index.js';
import { lookAt } from './look-at.js';
import { dataFileOf } from './log-store.js';
import { identify } from './folder-lock.js';

/** The one appended, after the one of a new store. */
const EVENTS = 2;

describe('a look at a store', () => {
  let folder: string;
  let dataDir: string;
  let store: EmbeddedEventStore | undefined;
  let client: EventStoreDBClient | undefined;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'event-store-look-'));
    dataDir = join(folder, 'store');
  });

  afterEach(async () => {
    await stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const start = async (): Promise<void> => {
    store = await startEmbeddedEventStore({ dataDir });
    client = EventStoreDBClient.connectionString(store.connectionString);
  };
  const append = () => client!.appendToStream('a', jsonEvent({ type: 'Noted', data: {} }));
  const stop = async (): Promise<void> => {
    await client?.dispose();
    await store?.stop();
    client = store = undefined;
  };

  it('happens again when its server ended meanwhile', async () => {
    await start();
    await append();
    let looks = 0;
    const events = await lookAt(dataDir, async (seen) => {
      looks++;
      await stop();
      return seen.usage().events;
    });
    expect({ looks, events }).toEqual({ looks: 2, events: EVENTS });
  });

  it('happens again when somebody committed meanwhile', async () => {
    await start();
    await append();
    await stop();
    let looks = 0;
    const events = await lookAt(dataDir, (seen) => {
      if (looks++ === 0) changeRootPage();
      return seen.usage().events;
    });
    expect({ looks, events }).toEqual({ looks: 2, events: EVENTS });
  });

  /** As a commit of another process does, in bytes that mean nothing. */
  const changeRootPage = (): void => {
    const file = openSync(dataFileOf(dataDir), 'r+');
    writeSync(file, Buffer.from([1]), 0, 1, 2 * 4_096 - 1);
    closeSync(file);
  };

  it('works in a folder with a path that is too long for a socket', async () => {
    dataDir = join(folder, 'x'.repeat(100));
    await start();
    await append();
    expect(await lookAt(dataDir, (seen) => seen.usage().events)).toBe(EVENTS);
  });

  it('is refused when the process that holds the folder does not answer', async () => {
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, 'server.lock'), JSON.stringify(identify(process.pid)));
    await expect(lookAt(dataDir, () => 0)).rejects.toThrow(/holds .* and does not answer/);
  });
});
