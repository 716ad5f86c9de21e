import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startKms, type Kms } from '../../../../../test/support/start-kms.js';
import { KeysUnavailable } from '../wrapping-keys.js';
import { VaultClient, type VaultSettings } from './vault-client.js';
import { VaultKeyStore } from './vault-key-store.js';

const EPOCH = '20261116T000000Z';
const NEXT = '20261123T000000Z';
const PLACE = { mount: 'team/transit', prefix: 'readings' };

let kms: Kms;
let store: VaultKeyStore;

const storeWith = (changed: Partial<VaultSettings> = {}, place = PLACE) =>
  new VaultKeyStore(
    new VaultClient({ url: kms.url, token: kms.token, namespace: 'eu', timeoutMs: 30_000, ...changed }),
    place,
  );

beforeEach(async () => {
  kms = await startKms({ mount: PLACE.mount, namespace: 'eu' });
  store = storeWith();
});
afterEach(() => kms.stop());

describe('VaultKeyStore', () => {
  it('makes a key that opens again, and whose stored part does not reveal it', async () => {
    const { key, stored } = await store.make(EPOCH);
    expect(key).toHaveLength(32);
    expect(stored.toString()).toMatch(/^vault:v1:/);
    expect(stored.includes(key)).toBe(false);
    expect(await storeWith().open(EPOCH, stored)).toEqual(key);
    expect([...kms.keys.keys()]).toEqual([`readings-${EPOCH}`]);
    expect(await store.list()).toEqual([EPOCH]);
  });

  it('destroys a key permanently, remembers it, and never recreates it', async () => {
    const { stored } = await store.make(EPOCH);
    const { key: surviving, stored: survivor } = await store.make(NEXT);
    await store.destroy(EPOCH);
    await store.destroy(EPOCH);
    expect(await store.open(EPOCH, stored)).toBe('destroyed');
    expect(await store.open(NEXT, survivor)).toEqual(surviving);
    expect(await store.list()).toEqual([NEXT]);
    await expect(store.make(EPOCH)).rejects.toThrow(/was destroyed/);
  });

  it('treats a key that someone else deleted as missing, not as destroyed', async () => {
    const { stored } = await store.make(EPOCH);
    (kms.keys as Map<string, unknown>).clear();
    expect(await store.open(EPOCH, stored)).toBe('missing');
  });

  it('is retried after transient failures, at most three attempts', async () => {
    kms.mood = 503;
    await expect(store.make(EPOCH)).rejects.toThrow('The KMS answers 503');
    expect(kms.calls).toHaveLength(3);
    kms.mood = 429;
    setTimeout(() => (kms.mood = 'well'), 60);
    expect((await store.make(EPOCH)).key).toHaveLength(32);
  });

  it('times out, and reports a wrong address', async () => {
    kms.mood = 'silent';
    await expect(storeWith({ timeoutMs: 30 }).make(EPOCH)).rejects.toThrow(/cannot be reached/);
    await expect(storeWith({ url: 'http://127.0.0.1:1' }).make(EPOCH)).rejects.toThrow(/ECONNREFUSED/);
  });

  it('is not retried after a refusal, whose reason excludes the token', async () => {
    const refusal = await storeWith({ token: 'wrong' })
      .make(EPOCH)
      .catch((error: unknown) => error);
    expect(refusal).toBeInstanceOf(KeysUnavailable);
    expect((refusal as Error).message).toBe(
      `The KMS refuses the key ${EPOCH}-destroyed with 403: permission denied`,
    );
    expect(kms.calls).toHaveLength(1);
    await expect(storeWith({ namespace: 'us' }).make(EPOCH)).rejects.toThrow(/403/);
    const { stored } = await store.make(EPOCH);
    await expect(
      store.open(EPOCH, Buffer.from(`vault:v1:AAAA${stored.toString().slice(13)}`)),
    ).rejects.toThrow(/refuses the data key/);
  });

  it('gets the token currently in the file', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'kms-token-'));
    const tokenFile = join(folder, 'token');
    writeFileSync(tokenFile, 'stale');
    const agent = storeWith({ token: undefined, tokenFile });
    await expect(agent.make(EPOCH)).rejects.toThrow(/403/);
    writeFileSync(tokenFile, `${kms.token}\n`);
    expect((await agent.make(EPOCH)).key).toHaveLength(32);
    rmSync(folder, { recursive: true });
  });
});
