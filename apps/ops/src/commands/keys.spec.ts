import { describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EpochKeys } from '#platform/crypto/epochs/epoch-keys.js';
import { fingerprintOf } from '#platform/crypto/epochs/epoch.js';
import { FileKeyStore } from '#platform/crypto/epochs/file-key-store.js';
import { KeyRing } from '#platform/crypto/key-ring.js';
import { KeysUnavailable } from '#platform/crypto/wrapping-keys.js';
import { holdingsOf, requireEpochKeys } from './keys.js';

it('What key-encryption keys have sealed is shown without starting an epoch', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdings-'));
  const asked: string[] = [];
  const query = async (text: string) => {
    asked.push(text);
    return { rows: [] };
  };
  const ring = new KeyRing([{ id: 'k1', key: Buffer.alloc(32, 1) }]);
  const keys = new EpochKeys({ query } as never, ring, new FileKeyStore(folder, ring), {
    lengthMs: 604_800_000,
    cacheMs: 60_000,
  });
  const [ofReadings] = await holdingsOf({ pool: { query }, ring, keys } as never);
  expect(ofReadings!.current).toBeNull();
  expect(asked.filter((text) => !text.startsWith('select'))).toEqual([]);
  rmSync(folder, { recursive: true });
});

describe('A mirror of the keys requires', () => {
  const EPOCH = '20261116T000000Z';
  const key = Buffer.alloc(32, 1);
  const row = {
    epoch: EPOCH,
    provider: 'file',
    fingerprint: fingerprintOf(EPOCH, key),
    destroyedAt: null,
  } as const;
  type Keys = Parameters<typeof requireEpochKeys>[1];
  const keysWith = (open: () => Promise<Buffer | string>) => {
    const store = { open };
    return { store, requireStore: () => store } as unknown as Keys;
  };
  const finds = (found: Buffer | string) => keysWith(() => Promise.resolve(found));
  const none = { store: null } as unknown as Keys;

  it.each([
    ['a missing key', finds('missing'), /The key of epoch 20261116T000000Z is not in KEY_DIRECTORY/],
    ['another key', finds(Buffer.alloc(32, 2)), /another key for epoch 20261116T000000Z/],
    ['a folder that is not configured', none, /KEY_DIRECTORY is not set.*20261116T000000Z/],
    [
      'a key that does not open',
      keysWith(() => Promise.reject(new KeysUnavailable(`Cannot open the key of ${EPOCH}`))),
      /Cannot open the key of 20261116T000000Z/,
    ],
  ])('every key of an epoch: it refuses %s', (_, keys, message) =>
    expect(requireEpochKeys([row], keys)).rejects.toThrow(message),
  );

  it('nothing of destroyed epochs, other keepers, and keys without a fingerprint', async () => {
    await requireEpochKeys([row], finds(key));
    await requireEpochKeys([row], finds('destroyed'));
    await requireEpochKeys([{ ...row, fingerprint: null }], finds(Buffer.alloc(32, 2)));
    await requireEpochKeys([{ ...row, destroyedAt: 1 }], finds('missing'));
    await requireEpochKeys([{ ...row, provider: 'environment' }], none);
  });
});
