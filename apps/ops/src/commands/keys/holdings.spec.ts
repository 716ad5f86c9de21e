import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EpochKeys } from '#platform/crypto/epochs/epoch-keys.js';
import { FileKeyStore } from '#platform/crypto/epochs/file-key-store.js';
import { KeyRing } from '#platform/crypto/key-ring.js';
import { holdingsOf } from './holdings.js';

const FORMER = { id: 'k1', key: Buffer.alloc(32, 1) };
const RING = new KeyRing([{ id: 'k2', key: Buffer.alloc(32, 2) }, FORMER]);
const EPOCH = '20260105T000000Z';

let folder: string;
const asked: string[] = [];
const pool = {
  query: async (text: string) => {
    asked.push(text);
    return { rows: [] };
  },
};

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdings-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const holdings = (provider: 'environment' | 'file') => {
  const keys = new EpochKeys(pool as never, RING, [new FileKeyStore(folder, RING)], {
    provider,
    lengthMs: 604_800_000,
    cacheMs: 60_000,
  });
  return holdingsOf({ pool, ring: RING, keys } as never);
};

describe('What key-encryption keys have sealed', () => {
  it('includes epoch keys of a keeper no longer in use, which ENCRYPTION_KEYS still seal', async () => {
    await new FileKeyStore(folder, new KeyRing([FORMER])).make(EPOCH);
    const ofEpochs = (await holdings('environment')).find(({ what }) => what === 'keys of epochs')!;
    expect(Object.fromEntries(await ofEpochs.count())).toEqual({ k1: 1 });
    expect(await ofEpochs.rewrap(() => undefined)).toEqual({ rewrapped: 1, unopened: [] });
    expect(Object.fromEntries(await ofEpochs.count())).toEqual({ k2: 1 });
  });

  it('is shown without starting an epoch', async () => {
    asked.length = 0;
    const [ofReadings] = await holdings('file');
    expect(ofReadings!.current).toBeNull();
    expect(asked.filter((text) => !text.startsWith('select'))).toEqual([]);
  });
});
