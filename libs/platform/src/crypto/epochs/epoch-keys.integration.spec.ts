import { describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { SubjectKeys } from '../subject-keys.js';
import { KeyDestroyed, KeysUnavailable } from '../wrapping-keys.js';
import { EpochRows } from './epoch-rows.js';
import { FileKeyStore } from './file-key-store.js';
import { RING, SECRET, epochsUnderTest } from './testing/epochs-under-test.js';

const epochs = epochsUnderTest();
const { keysOf, upkeepOf, seal, wrappedBy } = epochs;

describe('EpochKeys', () => {
  it('start one epoch, even in many processes at once', async () => {
    const current = await Promise.all(Array.from({ length: 8 }, () => keysOf().current()));
    expect(new Set(current.map(({ id, key }) => `${id} ${key.toString('hex')}`)).size).toBe(1);
    expect(readdirSync(epochs.folder)).toHaveLength(1);
    expect(await epochs.rows.all()).toHaveLength(1);
  });

  it('start none if another process has just started one', async () => {
    const other = keysOf();
    const late = keysOf();
    const looked = jest.spyOn(EpochRows.prototype, 'current').mockImplementationOnce(async () => {
      looked.mockRestore();
      await other.current();
      return null;
    });
    expect((await late.current()).id).toBe((await other.current()).id);
    expect(await epochs.rows.all()).toHaveLength(1);
  });

  it('store no key under an epoch that has ended: the next one wraps it', async () => {
    const [lagging, other] = [keysOf(), keysOf()];
    const first = (await lagging.current()).id;
    const next = await upkeepOf(other).advance();
    expect((await lagging.current()).id).toBe(first);
    const { subject, sealed } = await seal(lagging);
    expect(await wrappedBy()).toEqual({ [next]: 1 });
    expect((await new SubjectKeys(epochs.pool, other).find(subject))!.open('input', sealed)).toEqual(SECRET);
  });

  it('open keys that ENCRYPTION_KEYS wrapped before epochs existed, and use ENCRYPTION_KEYS without an epoch', async () => {
    const subject = randomUUID();
    const sealed = (await new SubjectKeys(epochs.pool, RING).create(subject, 'ws_1')).seal('input', SECRET);
    expect((await new SubjectKeys(epochs.pool, keysOf()).find(subject))!.open('input', sealed)).toEqual(
      SECRET,
    );
    await seal(keysOf({ provider: 'environment' }));
    expect(await wrappedBy()).toEqual({ k1: 2 });
  });

  it('create no key in a wrong folder, and treat nothing there as erased', async () => {
    const { subject } = await seal(keysOf());
    await epochs.rows.end('file');
    const unmounted = keysOf({ folder: join(epochs.parent, 'unmounted') });
    await expect(unmounted.current()).rejects.toThrow(/is it the right place/);
    await expect(new SubjectKeys(epochs.pool, unmounted).find(subject)).rejects.toBeInstanceOf(
      KeysUnavailable,
    );
    expect(await epochs.rows.all()).toHaveLength(1);
  });

  it('do not accept another key of the same name', async () => {
    const { id } = await keysOf().current();
    const other = join(epochs.parent, randomUUID());
    await new FileKeyStore(other, RING).make(id);
    await expect(keysOf({ folder: other }).named(id)).rejects.toThrow(
      /another one than the one that wrapped/,
    );
  });

  it('work for a while without their keeper, and forget a destroyed key in time', async () => {
    let now = 0;
    const keys = keysOf({ cacheMs: 1_000, now: () => now });
    const { id } = await keys.current();
    rmSync(epochs.folder, { recursive: true });
    now = 12_500;
    expect((await keys.current()).id).toBe(id);
    now = 14_500;
    await expect(keys.current()).rejects.toBeInstanceOf(KeysUnavailable);

    const store = new FileKeyStore(epochs.folder, RING);
    await epochs.pool.query('truncate platform.key_epoch');
    const again = keysOf({ cacheMs: 1_000, now: () => now });
    const { id: second } = await again.current();
    await store.destroy(second);
    now += 999;
    await again.named(second);
    now += 1;
    await expect(again.named(second)).rejects.toBeInstanceOf(KeyDestroyed);
  });
});
