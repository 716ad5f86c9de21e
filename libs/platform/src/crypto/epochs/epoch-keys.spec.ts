import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { KeyRing } from '../key-ring.js';
import { KeysUnavailable } from '../wrapping-keys.js';
import { FileKeyStore, epochAt, startOf } from './epoch-keys.js';

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

const WEEK_MS = 604_800_000;
const at = (text: string): number => Date.parse(text);

describe('epochs', () => {
  it('of a week start on Monday, UTC, and are contiguous', () => {
    const epoch = epochAt(at('2026-11-22T13:45:10Z'), WEEK_MS, 0);
    expect(epoch).toEqual({
      id: '20261116T000000Z',
      startsAt: at('2026-11-16T00:00:00Z'),
      endsAt: at('2026-11-23T00:00:00Z'),
    });
    expect(epochAt(epoch.endsAt, WEEK_MS, epoch.endsAt).id).toBe('20261123T000000Z');
    expect(startOf(epoch.id)).toBe(epoch.startsAt);
  });

  it('never start before the previous one has ended, even if their length changes', () => {
    const ended = at('2026-11-18T10:00:00.250Z');
    const next = epochAt(at('2026-11-18T10:00:00.300Z'), WEEK_MS, ended);
    expect(next.id).toBe('20261118T100001Z');
    expect(next.endsAt).toBe(at('2026-11-23T00:00:00Z'));
    for (const length of [1_000, 1_500, 86_400_000, WEEK_MS]) {
      let before = epochAt(ended, length, 0);
      for (let step = 0; step < 50; step += 1) {
        const after = epochAt(before.endsAt + step * 7, length, before.endsAt);
        expect(after.startsAt).toBeGreaterThanOrEqual(before.endsAt);
        expect(after.endsAt).toBeGreaterThan(after.startsAt);
        expect(after.id).not.toBe(before.id);
        before = after;
      }
    }
  });

  it('have names that are neither ids of ENCRYPTION_KEYS nor paths', () => {
    for (const name of ['k1', '20261116t000000z', '../20261116T000000Z', '20261116T000000Z/..', ''])
      expect(startOf(name)).toBeNull();
  });
});
