import { describe, expect, it } from '@jest/globals';
import { fingerprintOf } from '#platform/crypto/epochs/epoch-keys.js';
import { KeysUnavailable } from '#platform/crypto/wrapping-keys.js';
import { requireEpochKeys } from './keys.js';

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
