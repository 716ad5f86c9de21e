import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeyRing } from '../key-ring.js';
import { KeysUnavailable } from '../wrapping-keys.js';
import { FileKeyStore } from './epoch-keys.js';

const EPOCH = '20261116T000000Z';
const NEXT = '20261123T000000Z';
const root = (id: string, byte: number) => ({ id, key: Buffer.alloc(32, byte) });
const RING = new KeyRing([root('k1', 1)]);

let folder: string;
let store: FileKeyStore;

beforeEach(() => {
  folder = join(mkdtempSync(join(tmpdir(), 'key-store-')), 'keys');
  store = new FileKeyStore(folder, RING);
});
afterEach(() => rmSync(join(folder, '..'), { recursive: true, force: true }));

describe('FileKeyStore', () => {
  it('makes one key per epoch, even by many processes at once', async () => {
    const stores = Array.from({ length: 16 }, () => new FileKeyStore(folder, RING));
    const made = await Promise.all(stores.map((one) => one.make(EPOCH)));
    expect(new Set(made.map(String)).size).toBe(1);
    expect(await store.open(EPOCH)).toEqual(made[0]);
    expect(readdirSync(folder)).toEqual([`${EPOCH}.key`]);
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder, `${EPOCH}.key`)).mode & 0o777).toBe(0o600);
  });

  it('opens nothing without ENCRYPTION_KEYS', async () => {
    const key = await store.make(EPOCH);
    expect(readFileSync(join(folder, `${EPOCH}.key`)).includes(key)).toBe(false);
    const stranger = new FileKeyStore(folder, new KeyRing([root('k1', 9)]));
    await expect(stranger.open(EPOCH)).rejects.toThrow(/ENCRYPTION_KEYS do not open it/);
  });

  it('treats an absent key as missing, and does not open the key of one epoch as another’s', async () => {
    await store.make(EPOCH);
    expect(await store.open(NEXT)).toBe('missing');
    writeFileSync(join(folder, `${NEXT}.key`), readFileSync(join(folder, `${EPOCH}.key`)));
    await expect(store.open(NEXT)).rejects.toBeInstanceOf(KeysUnavailable);
  });

  it('remembers that it destroyed a key, leaves no byte of it, and never recreates it', async () => {
    await store.make(EPOCH);
    await store.make(NEXT);
    const bytes = readFileSync(join(folder, `${EPOCH}.key`));
    // What processes killed while making or resealing the key leave behind.
    for (const ending of ['0f.draft', 'key']) {
      writeFileSync(join(folder, `${EPOCH}.${ending}`), bytes);
      await store.destroy(EPOCH);
    }
    expect(await store.open(EPOCH)).toBe('destroyed');
    expect(await store.list()).toEqual([NEXT]);
    for (const name of readdirSync(folder))
      expect(readFileSync(join(folder, name)).includes(bytes.subarray(4))).toBe(false);
    await expect(store.make(EPOCH)).rejects.toThrow(/was destroyed; it is not made again/);
  });

  it('seals its keys again when ENCRYPTION_KEYS are rotated', async () => {
    const key = await store.make(EPOCH);
    const rotating = new FileKeyStore(folder, new KeyRing([root('k2', 2), root('k1', 1)]));
    expect(await rotating.sealedBy()).toEqual(new Map([['k1', 1]]));
    expect(await rotating.reseal()).toBe(1);
    expect(await rotating.reseal()).toBe(0);
    const rotated = new FileKeyStore(folder, new KeyRing([root('k2', 2)]));
    expect(await rotated.open(EPOCH)).toEqual(key);
    expect(readdirSync(folder)).toEqual([`${EPOCH}.key`]);
  });

  it('never leaves its folder', async () => {
    for (const name of ['../escaped', `${EPOCH}/../../x`, ''])
      await expect(store.make(name)).rejects.toBeInstanceOf(KeysUnavailable);
  });

  it('reports failures as transient', async () => {
    writeFileSync(folder, '');
    await expect(store.make(EPOCH)).rejects.toThrow(
      /Cannot make the key of .* in KEY_DIRECTORY: E(EXIST|NOTDIR)/,
    );
  });
});
