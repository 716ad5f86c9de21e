import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startKms, type Kms } from '../../../../../test/support/start-kms.js';
import { KeyRing } from '../key-ring.js';
import { SubjectKeys } from '../subject-keys.js';
import type { EpochKeys } from './epoch-keys.js';
import { EpochRows } from './epoch-rows.js';
import { FileKeyStore } from './file-key-store.js';
import { RING, epochsUnderTest } from './testing/epochs-under-test.js';
import { VaultClient } from './vault-client.js';
import { VaultKeyStore } from './vault-key-store.js';

const CACHE_MS = 60_000;

const epochs = epochsUnderTest();
const { inFiles, upkeepOf } = epochs;
let kms: Kms;

beforeAll(async () => {
  kms = await startKms();
});
afterAll(async () => kms.stop());
beforeEach(() => {
  kms.mood = 'well';
});

const inVault = () =>
  new VaultKeyStore(new VaultClient({ url: kms.url, token: kms.token, timeoutMs: 30_000 }), {
    mount: 'transit',
    prefix: 'p',
  });
const keysBy = (provider: 'file' | 'vault', now = () => performance.now()) =>
  epochs.keysOf({ provider, cacheMs: CACHE_MS, now, vault: inVault() });
const make = async (keys: EpochKeys | KeyRing, subject = randomUUID()) => {
  await new SubjectKeys(epochs.pool, keys).create(subject, 'ws_1');
  return subject;
};
/** An ended epoch that wraps nothing and whose key is due. */
const endedEpoch = async (keys: EpochKeys): Promise<string> => {
  const { id } = await keys.current();
  await upkeepOf(keys).advance();
  await upkeepOf(keys).rewrapAll(() => undefined);
  await delay(10);
  return id;
};

describe('When the row of the current epoch is lost, for example by a failover', () => {
  it('no process stores under its name what a different key wrapped', async () => {
    const lagging = keysBy('vault');
    await lagging.current();
    await epochs.pool.query('truncate platform.key_epoch');
    const ahead = keysBy('vault');
    const theirs = await make(ahead);
    const subject = await make(lagging);
    expect(await new SubjectKeys(epochs.pool, keysBy('vault')).find(subject)).not.toBeNull();
    expect(await new SubjectKeys(epochs.pool, lagging).find(theirs)).not.toBeNull();
  });

  it('no survivor is rewrapped by a key that only one process has', async () => {
    const lagging = keysBy('vault');
    const survivors = [await make(RING), await make(RING)];
    await lagging.current();
    await epochs.pool.query('truncate platform.key_epoch');
    await keysBy('vault').current();
    await upkeepOf(lagging).rewrapAll(() => undefined);
    for (const subject of survivors)
      expect(await new SubjectKeys(epochs.pool, keysBy('vault')).find(subject)).not.toBeNull();
  });

  it('a process that knew the former key opens at once what the new one wrapped', async () => {
    const lagging = keysBy('vault');
    await lagging.current();
    await epochs.pool.query('truncate platform.key_epoch');
    const subject = await make(keysBy('vault'));
    expect(await new SubjectKeys(epochs.pool, lagging).find(subject)).not.toBeNull();
  });
});

describe('When the key keeper changes', () => {
  it('an epoch of the new keeper starts at once, within the former keeper’s epoch', async () => {
    await keysBy('file').current();
    const { id } = await keysBy('vault').current();
    expect((await epochs.rows.find(id))!.provider).toBe('vault');
  });

  it('one also starts at once when the former keeper’s epoch started early', async () => {
    const former = keysBy('file');
    await former.current();
    await upkeepOf(former).advance();
    const { id } = await keysBy('vault').current();
    expect((await epochs.rows.find(id))!.provider).toBe('vault');
  });

  it('an unconfigured keeper does not block the keys of another', async () => {
    const keys = keysBy('file');
    await epochs.rows.add(
      { id: '20260105T000000Z', startsAt: Date.UTC(2026, 0, 5), endsAt: Date.UTC(2026, 0, 12) },
      'vault',
      Buffer.from('sealed'),
      Buffer.alloc(16),
    );
    await epochs.pool.query(`update platform.key_epoch set emptied_at = now()`);
    const due = await endedEpoch(keys);
    const { destroyed, waiting } = await upkeepOf(epochs.keysOf()).retire();
    expect(destroyed).toEqual([due]);
    expect(waiting).toEqual([
      { epoch: '20260105T000000Z', why: expect.stringMatching(/not configured here/) },
    ]);
  });
});

describe('When the key of the current epoch is lost', () => {
  it('reading which key wraps starts no epoch and needs no key', async () => {
    expect(await keysBy('file').wrapsNow()).toBeNull();
    expect(await epochs.rows.all()).toEqual([]);
    const { id } = await keysBy('file').current();
    rmSync(epochs.folder, { recursive: true });
    expect(await keysBy('file').wrapsNow()).toBe(id);
  });

  it('the next epoch starts as soon as the key counts as destroyed', async () => {
    const { id } = await keysBy('file').current();
    const lost = await make(keysBy('file'));
    rmSync(epochs.folder, { recursive: true });
    await epochs.rows.markDestroyed(id);
    const keys = keysBy('file');
    expect((await keys.current()).id).not.toBe(id);
    expect(await new SubjectKeys(epochs.pool, keys).find(lost)).toBeNull();
    expect(await new SubjectKeys(epochs.pool, keys).find(await make(keys))).not.toBeNull();
  });

  it('a subject whose key it wrapped gets a new one', async () => {
    const keys = keysBy('file');
    const { id } = await keys.current();
    const subject = await make(keys);
    await upkeepOf(keys).advance();
    await epochs.rows.markDestroyed(id);
    await make(keysBy('file'), subject);
    expect(await new SubjectKeys(epochs.pool, keysBy('file')).find(subject)).not.toBeNull();
  });
});

describe('When the keeper of keys does not answer', () => {
  it('a cached key serves at once: the keeper is asked now and then, not for each reading', async () => {
    let now = 0;
    const keys = keysBy('vault', () => now);
    const { id } = await keys.current();
    kms.mood = 503;
    now = CACHE_MS + 1;
    await keys.named(id);
    const asked = kms.calls.length;
    for (let read = 0; read < 3; read += 1) await keys.named(id);
    expect(kms.calls.length).toBe(asked);
    kms.mood = 'well';
    now += 10_000;
    await keys.named(id);
    expect(kms.calls.length).toBe(asked + 1);
  });
});

describe('Destroying keys', () => {
  it('marks no missing key as destroyed', async () => {
    const id = await endedEpoch(keysBy('file'));
    const elsewhere = epochs.keysOf({ folder: `${epochs.folder}-wrong` });
    const { destroyed, waiting } = await upkeepOf(elsewhere).retire();
    expect(destroyed).toEqual([]);
    expect(waiting).toEqual([{ epoch: id, why: expect.stringMatching(/not where it should be/) }]);
    expect((await epochs.rows.find(id))!.destroyedAt).toBeNull();
    expect((await upkeepOf(keysBy('file')).retire()).destroyed).toEqual([id]);
    expect(readdirSync(epochs.folder)).toContain(`${id}.destroyed`);
  });

  it('waits only briefly for statements that store keys, and tries again later', async () => {
    const keys = keysBy('file');
    const { id } = await keys.current();
    await upkeepOf(keys).advance();
    const writer = await epochs.pool.connect();
    await writer.query('begin');
    await writer.query('lock table platform.subject_key in row exclusive mode');
    try {
      await upkeepOf(keys).rewrapAll(() => undefined);
      expect((await epochs.rows.find(id))!.emptiedAt).toBeNull();
    } finally {
      await writer.query('rollback');
      writer.release();
    }
    await upkeepOf(keys).rewrapAll(() => undefined);
    expect((await epochs.rows.find(id))!.emptiedAt).not.toBeNull();
  });

  it('blocks no statement that stores a key when the process freezes while it waits for earlier ones', async () => {
    const keys = keysBy('file');
    await keys.current();
    const frozen = await epochs.pool.connect();
    try {
      await new Promise<void>((answered) => {
        const once = async (text: string) => {
          await frozen.query(text);
          if (!text.includes('lock table')) return;
          answered();
          await new Promise(() => undefined);
        };
        const connect = () => Promise.resolve({ query: once, release: () => undefined });
        void new EpochRows({ query: once, connect } as never).writersPassed();
      });
      // A lock of the frozen process would last until the end of this test.
      expect(await Promise.race([make(keys), delay(30_000, 'blocked', { ref: false })])).not.toBe('blocked');
    } finally {
      frozen.release(true);
    }
  });

  it('leaves its connection usable after it gave up waiting', async () => {
    const [writer, own] = [await epochs.pool.connect(), await epochs.pool.connect()];
    await writer.query('begin; lock table platform.subject_key in row exclusive mode');
    try {
      const rows = new EpochRows(own as never);
      expect(await rows.writersPassed()).toBe(false);
      const { rows: settings } = await own.query('show lock_timeout');
      expect(settings).toEqual([{ lock_timeout: '0' }]);
      await writer.query('rollback');
      expect(await rows.writersPassed()).toBe(true);
    } finally {
      writer.release(true);
      own.release();
    }
  });
});

describe('A key that was destroyed in a folder', () => {
  it('stays destroyed, whatever a killed process left there', async () => {
    const store = inFiles();
    const id = '20260105T000000Z';
    await store.make(id);
    writeFileSync(join(epochs.folder, `${id}.destroyed`), '');
    expect(await store.open(id)).toBe('destroyed');
    const rotated = new FileKeyStore(
      epochs.folder,
      new KeyRing([
        { id: 'k2', key: Buffer.alloc(32, 2) },
        { id: 'k1', key: Buffer.alloc(32, 1) },
      ]),
    );
    expect(await rotated.reseal()).toBe(0);
    expect(readdirSync(epochs.folder)).toEqual([`${id}.destroyed`]);
  });
});
