import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { DIFFERING } from '../../time/testing/clocks-under-test.js';
import { SubjectKeys } from '../subject-keys.js';
import { KeyDestroyed, KeysUnavailable } from '../wrapping-keys.js';
import { FileKeyStore } from './epoch-keys.js';
import { epochStatus } from './key-upkeep.js';
import { RING, SECRET, never, epochsUnderTest } from './testing/epochs-under-test.js';

const epochs = epochsUnderTest();
const { keysOf, upkeepOf, age, seal, wrappedBy } = epochs;
const find = (subject: string, keys = keysOf()) => new SubjectKeys(epochs.pool, keys).find(subject);

describe('EpochKeys', () => {
  it('start one epoch, even in many processes at once', async () => {
    const current = await Promise.all(Array.from({ length: 8 }, () => keysOf().current()));
    expect(new Set(current.map(({ id, key }) => `${id} ${key.toString('hex')}`)).size).toBe(1);
    expect(readdirSync(epochs.folder)).toHaveLength(1);
    expect(await epochs.rows.all()).toHaveLength(1);
  });

  it('store no key under an epoch that has ended: the next one wraps it', async () => {
    const keys = keysOf();
    const former = await keys.current();
    const next = await upkeepOf(keys).advance();
    // As a request gets it that asked before the end, and stores its key afterwards.
    const answers = [former];
    const late = {
      current: async () => answers.shift() ?? keys.current(),
      named: (id: string) => keys.named(id),
    };
    const subject = randomUUID();
    const made = await new SubjectKeys(epochs.pool, late).create(subject, 'ws_1');
    expect(await wrappedBy()).toEqual({ [next]: 1 });
    expect((await find(subject))!.open('input', made.seal('input', SECRET))).toEqual(SECRET);
  });

  it('open keys that ENCRYPTION_KEYS wrapped before epochs existed, and use ENCRYPTION_KEYS without an epoch', async () => {
    const subject = randomUUID();
    const sealed = (await new SubjectKeys(epochs.pool, RING).create(subject, 'ws_1')).seal('input', SECRET);
    expect((await find(subject))!.open('input', sealed)).toEqual(SECRET);
    await seal(keysOf({ isInFiles: false }));
    expect(await wrappedBy()).toEqual({ k1: 2 });
  });

  it('create no key in a wrong folder, and treat nothing there as erased', async () => {
    const { subject } = await seal(keysOf());
    await epochs.rows.end();
    const unmounted = keysOf({ folder: join(epochs.parent, 'unmounted') });
    await expect(unmounted.current()).rejects.toThrow(/is it the right place/);
    await expect(find(subject, unmounted)).rejects.toBeInstanceOf(KeysUnavailable);
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

  it('serve from memory for a bounded time, after which a destroyed key is forgotten', async () => {
    let now = 1;
    const keys = keysOf({ cacheMs: 1_000, now: () => now });
    const { id } = await keys.current();
    await new FileKeyStore(epochs.folder, RING).destroy(id);
    now += 999;
    await keys.named(id);
    now += 2;
    await expect(keys.named(id)).rejects.toBeInstanceOf(KeyDestroyed);
  });

  it('start the next epoch as soon as a lost key counts as destroyed; a subject of it gets a new key', async () => {
    const keys = keysOf();
    const { id } = await keys.current();
    const { subject } = await seal(keys);
    rmSync(epochs.folder, { recursive: true });
    await epochs.rows.markDestroyed(id);
    expect((await keysOf().current()).id).not.toBe(id);
    expect(await find(subject)).toBeNull();
    const { sealed } = await seal(keysOf(), subject);
    expect((await find(subject))!.open('input', sealed)).toEqual(SECRET);
  });

  it('wrap nothing without KEY_DIRECTORY while those of epochs stand', async () => {
    await seal(keysOf());
    await expect(keysOf({ isInFiles: false }).current()).rejects.toThrow(/KEY_DIRECTORY is not set/);
  });
});

describe('Upkeep of keys', () => {
  it('rewraps survivors while new keys are created, destroys the key of the epoch, and erased ones stay sealed', async () => {
    const keys = keysOf();
    const [erased, ...survivors] = await Promise.all(Array.from({ length: 30 }, () => seal(keys)));
    await new SubjectKeys(epochs.pool, RING).create(randomUUID(), 'ws_1');
    const { rows: copies } = await epochs.pool.query(
      'select * from platform.subject_key where subject_id = $1',
      [erased!.subject],
    );
    await new SubjectKeys(epochs.pool, keys).destroy(erased!.subject);
    const first = (await keys.current()).id;
    const next = await upkeepOf(keys).advance();
    const [made] = await Promise.all([
      seal(keysOf()),
      upkeepOf(keys).round(never),
      upkeepOf(keysOf()).round(never),
    ]);
    await upkeepOf(keys).round(never);
    expect(await wrappedBy()).toEqual({ [next]: 31 });
    expect((await epochs.rows.find(first))!.destroyedAt).not.toBeNull();

    const later = new SubjectKeys(epochs.pool, keysOf());
    for (const { subject, sealed } of [...survivors, made])
      expect((await later.find(subject))!.open('input', sealed)).toEqual(SECRET);
    // A row from a backup of that time.
    const { subject_id, workspace_id, wrapped_key } = copies[0] as Record<string, unknown>;
    await epochs.pool.query(
      'insert into platform.subject_key (subject_id, workspace_id, wrapped_key) values ($1, $2, $3)',
      [subject_id, workspace_id, wrapped_key],
    );
    expect(await later.find(erased!.subject)).toBeNull();
  });

  it('destroys nothing before its time or without notice', async () => {
    const keys = keysOf();
    await seal(keys);
    await upkeepOf(keys).advance();
    const patient = upkeepOf(keys, { retentionMs: 3_600_000, noticeMs: 600_000 });
    await patient.round(never);
    expect((await patient.retire()).destroyed).toEqual([]);
    // All workers were away when it should have been announced.
    await age(3_700_000);
    expect((await patient.retire()).destroyed).toEqual([]);
    expect((await epochs.rows.all())[0]!.announcedAt).not.toBeNull();
    await epochs.pool.query(`update platform.key_epoch set announced_at = announced_at - interval '601 s'`);
    expect((await patient.retire()).destroyed).toHaveLength(1);
    expect(await keys.store!.list()).toHaveLength(1);
  });

  it('destroys nothing while clocks disagree', async () => {
    const keys = keysOf();
    await seal(keys);
    await upkeepOf(keys).advance();
    const wrong = upkeepOf(keys, {}, DIFFERING);
    await wrong.rewrapAll(() => undefined);
    await age(1_000);
    const { destroyed, waiting } = await wrong.retire();
    expect(destroyed).toEqual([]);
    expect(waiting).toEqual([{ epoch: expect.any(String), why: expect.stringMatching(/clocks/) }]);
  });

  it('destroys no key that a row needs, whether not rewrapped or restored', async () => {
    const keys = keysOf();
    const { subject } = await seal(keys);
    const { rows: copies } = await epochs.pool.query<{ wrapped_key: Buffer }>(
      'select wrapped_key from platform.subject_key',
    );
    await upkeepOf(keys).advance();
    await age(1_000);
    expect((await upkeepOf(keys).retire()).waiting[0]!.why).toMatch(/have not been rewrapped/);
    await upkeepOf(keys).rewrapAll(() => undefined);
    await epochs.pool.query('update platform.subject_key set wrapped_key = $1', [copies[0]!.wrapped_key]);
    expect((await upkeepOf(keys).retire()).waiting[0]!.why).toMatch(/have come back/);
    expect(await find(subject)).not.toBeNull();
    const bounds = { retentionMs: 1, noticeMs: 0, ringIds: ['k1'] };
    await age(2 * 86_400_000);
    await epochs.pool.query(`update platform.key_epoch set announced_at = null`);
    await upkeepOf(keys).retire();
    await epochs.pool.query(`update platform.key_epoch set announced_at = announced_at - interval '2 days'`);
    const [ended, current] = await epochStatus(epochs.pool, bounds);
    expect(ended).toMatchObject({ state: 'overdue', rows: 1, provider: 'file' });
    expect(current).toMatchObject({ state: 'current', rows: 0, destroyAt: expect.any(String) });
  });

  it('destroys no missing key, until its folder is mounted', async () => {
    const keys = keysOf();
    const { id } = await keys.current();
    await upkeepOf(keys).advance();
    await upkeepOf(keys).rewrapAll(() => undefined);
    await age(1_000);
    const { destroyed, waiting } = await upkeepOf(keysOf({ folder: `${epochs.folder}-wrong` })).retire();
    expect(destroyed).toEqual([]);
    expect(waiting).toEqual([{ epoch: id, why: expect.stringMatching(/not where it should be/) }]);
    expect((await epochs.rows.find(id))!.destroyedAt).toBeNull();
    expect((await upkeepOf(keysOf()).retire()).destroyed).toEqual([id]);
    expect(readdirSync(epochs.folder)).toContain(`${id}.destroyed`);
  });

  it('waits only briefly for statements that store keys, and tries again later', async () => {
    const keys = keysOf();
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

  it('also destroys keys that a restored database does not know', async () => {
    const keys = keysOf();
    await seal(keys);
    const store = new FileKeyStore(epochs.folder, RING);
    await store.make('20260105T000000Z');
    await upkeepOf(keys).round(never);
    await age(1_000);
    await upkeepOf(keysOf()).round(never);
    expect(await store.open('20260105T000000Z')).toBe('destroyed');
    expect(await store.list()).toEqual([(await keys.current()).id]);
  });

  it('reports with ENCRYPTION_KEYS which key is due, and never destroys one', async () => {
    const keys = keysOf({ isInFiles: false });
    await upkeepOf(keys).round(never);
    const bounds = { retentionMs: 1_000, noticeMs: 0, ringIds: ['k1', 'k0'] };
    expect(await epochStatus(epochs.pool, bounds)).toMatchObject([{ epoch: 'k1', state: 'current' }]);
    await epochs.pool.query(
      `insert into platform.key_epoch (epoch, provider, ends_at) values ('k0', 'environment', now() - interval '1 minute')`,
    );
    await upkeepOf(keys).round(never);
    expect((await epochStatus(epochs.pool, bounds)).find(({ epoch }) => epoch === 'k0')!.state).toBe('due');
    const rotated = await epochStatus(epochs.pool, { ...bounds, ringIds: ['k1'] });
    expect(rotated.find(({ epoch }) => epoch === 'k0')!.state).toBe('destroyed');
  });
});
