import { describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { DIFFERING } from '../../time/testing/clocks-under-test.js';
import { SubjectKeys } from '../subject-keys.js';
import { FileKeyStore } from './file-key-store.js';
import { epochStatus, overdueEpochs } from './key-status.js';
import { RING, SECRET, never, epochsUnderTest } from './testing/epochs-under-test.js';

const epochs = epochsUnderTest();
const { keysOf, upkeepOf, age, seal, wrappedBy } = epochs;

describe('Upkeep of keys', () => {
  it('rewraps survivors while new keys are created, destroys the key of the epoch, and erased ones stay sealed', async () => {
    const keys = keysOf();
    const [erased, ...survivors] = await Promise.all(Array.from({ length: 30 }, () => seal(keys)));
    const former = await new SubjectKeys(epochs.pool, RING).create(randomUUID(), 'ws_1');
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
    expect(former).toBeDefined();
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
    expect(await new SubjectKeys(epochs.pool, keysOf()).find(subject)).not.toBeNull();
    const bounds = { retentionMs: 1, noticeMs: 0, ringIds: ['k1'] };
    expect(await overdueEpochs(epochs.pool, bounds)).toBe(0);
    await age(2 * 86_400_000);
    await epochs.pool.query(`update platform.key_epoch set announced_at = null`);
    await upkeepOf(keys).retire();
    await epochs.pool.query(`update platform.key_epoch set announced_at = announced_at - interval '2 days'`);
    expect(await overdueEpochs(epochs.pool, bounds)).toBe(1);
    const [ended, current] = await epochStatus(epochs.pool, bounds);
    expect(ended).toMatchObject({ state: 'overdue', rows: 1, provider: 'file' });
    expect(current).toMatchObject({ state: 'current', rows: 0, destroyAt: expect.any(String) });
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

  it('lets no process without KEY_DIRECTORY wrap a key while those of epochs stand', async () => {
    await seal(keysOf());
    await expect(keysOf({ provider: 'environment' }).current()).rejects.toThrow(/KEY_DIRECTORY is not set/);
  });

  it('reports with ENCRYPTION_KEYS which key is due, and never destroys one', async () => {
    const keys = keysOf({ provider: 'environment' });
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
