import { describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { KeyRing } from '../key-ring.js';
import { SubjectKeys } from '../subject-keys.js';
import { KeysUnavailable } from '../wrapping-keys.js';
import type { EpochKeys } from './epoch-keys.js';
import { EpochRows } from './epoch-rows.js';
import { FileKeyStore } from './file-key-store.js';
import { epochsUnderTest } from './testing/epochs-under-test.js';

const CACHE_MS = 60_000;

const epochs = epochsUnderTest();
const { inFiles, upkeepOf } = epochs;
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

describe('When the key of the current epoch is lost', () => {
  it('reading which key wraps starts no epoch and needs no key', async () => {
    expect(await epochs.keysOf().wrapsNow()).toBeNull();
    expect(await epochs.rows.all()).toEqual([]);
    const { id } = await epochs.keysOf().current();
    rmSync(epochs.folder, { recursive: true });
    expect(await epochs.keysOf().wrapsNow()).toBe(id);
  });

  it('the next epoch starts as soon as the key counts as destroyed', async () => {
    const { id } = await epochs.keysOf().current();
    const lost = await make(epochs.keysOf());
    rmSync(epochs.folder, { recursive: true });
    await epochs.rows.markDestroyed(id);
    const keys = epochs.keysOf();
    expect((await keys.current()).id).not.toBe(id);
    expect(await new SubjectKeys(epochs.pool, keys).find(lost)).toBeNull();
    expect(await new SubjectKeys(epochs.pool, keys).find(await make(keys))).not.toBeNull();
  });

  it('a subject whose key it wrapped gets a new one', async () => {
    const keys = epochs.keysOf();
    const { id } = await keys.current();
    const subject = await make(keys);
    await upkeepOf(keys).advance();
    await epochs.rows.markDestroyed(id);
    await make(epochs.keysOf(), subject);
    expect(await new SubjectKeys(epochs.pool, epochs.keysOf()).find(subject)).not.toBeNull();
  });
});

describe('When the keeper of keys does not answer', () => {
  it('a cached key serves at once: the keeper is asked now and then, not for each reading', async () => {
    let now = 0;
    const keys = epochs.keysOf({ cacheMs: CACHE_MS, now: () => now });
    const { id } = await keys.current();
    const open = jest.spyOn(FileKeyStore.prototype, 'open');
    open.mockRejectedValueOnce(new KeysUnavailable('the folder is away'));
    now = CACHE_MS + 1;
    await keys.named(id);
    for (let read = 0; read < 3; read += 1) await keys.named(id);
    expect(open).toHaveBeenCalledTimes(1);
    now += 10_000;
    await keys.named(id);
    expect(open).toHaveBeenCalledTimes(2);
    open.mockRestore();
  });
});

describe('Destroying keys', () => {
  it('marks no missing key as destroyed', async () => {
    const id = await endedEpoch(epochs.keysOf());
    const elsewhere = epochs.keysOf({ folder: `${epochs.folder}-wrong` });
    const { destroyed, waiting } = await upkeepOf(elsewhere).retire();
    expect(destroyed).toEqual([]);
    expect(waiting).toEqual([{ epoch: id, why: expect.stringMatching(/not where it should be/) }]);
    expect((await epochs.rows.find(id))!.destroyedAt).toBeNull();
    expect((await upkeepOf(epochs.keysOf()).retire()).destroyed).toEqual([id]);
    expect(readdirSync(epochs.folder)).toContain(`${id}.destroyed`);
  });

  it('waits only briefly for statements that store keys, and tries again later', async () => {
    const keys = epochs.keysOf();
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
    const keys = epochs.keysOf();
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
