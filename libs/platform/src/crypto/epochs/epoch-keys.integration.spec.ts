import { afterAll, beforeAll, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { InMemoryEventStore } from '@app/event-sourcing/testing/in-memory-event-store.js';
import { startKms, type Kms } from '../../../../../test/support/start-kms.js';
import { startPostgres, type StartedPostgres } from '../../../../../test/support/index.js';
import { openPool } from '../../postgres/pool.js';
import { KeyRing } from '../key-ring.js';
import { countByKey } from '../rewrapping.js';
import { SUBJECT_KEY_COLUMN, SubjectKeys } from '../subject-keys.js';
import { KeyDestroyed, KeysUnavailable } from '../wrapping-keys.js';
import { EpochKeys, type EpochSettings } from './epoch-keys.js';
import { EpochRows } from './epoch-rows.js';
import { FileKeyStore } from './file-key-store.js';
import { epochStatus, overdueEpochs } from './key-status.js';
import { KeyUpkeep, type UpkeepSettings } from './key-upkeep.js';
import { VaultClient } from './vault-client.js';
import { VaultKeyStore } from './vault-key-store.js';

const RING = new KeyRing([{ id: 'k1', key: Buffer.alloc(32, 1) }]);
const SECRET = Buffer.from('1815-12-10');
const WEEK_MS = 604_800_000;
const never = new AbortController().signal;

let postgres: StartedPostgres;
let pool: pg.Pool;
let rows: EpochRows;
let parent: string;
let folder: string;
let kms: Kms | undefined;

beforeAll(async () => {
  postgres = await startPostgres();
  pool = openPool(postgres.databaseUrl, {
    size: 8,
    applicationName: 'epochs spec',
    onError: () => undefined,
  });
  rows = new EpochRows(pool);
  parent = mkdtempSync(join(tmpdir(), 'epochs-'));
});
afterAll(async () => {
  await kms?.stop();
  await pool.end();
  await postgres.stop();
  rmSync(parent, { recursive: true });
});
beforeEach(async () => {
  await pool.query('truncate platform.subject_key, platform.key_epoch');
  folder = join(parent, randomUUID());
});

const keysOf = (changed: Partial<EpochSettings> & { now?: () => number; folder?: string } = {}) => {
  const { now, folder: other = folder, ...settings } = changed;
  return new EpochKeys(
    pool,
    RING,
    [new FileKeyStore(other, RING)],
    { provider: 'file', lengthMs: WEEK_MS, cacheMs: 60_000, ...settings },
    now,
  );
};
const warnings: object[] = [];
const upkeepOf = (keys: EpochKeys, settings: Partial<UpkeepSettings> = {}, now = () => Date.now()) =>
  new KeyUpkeep(
    {
      pool,
      store: new InMemoryEventStore(),
      ring: RING,
      keys,
      clock: { now },
      log: { info: () => undefined, warn: (details: object) => void warnings.push(details) } as never,
    },
    { retentionMs: 1, noticeMs: 0, skewMs: 60_000, ...settings },
  );
/** As if the epochs that have ended had done so so long ago. */
const age = (milliseconds: number) =>
  pool.query(
    `update platform.key_epoch set started_at = started_at - make_interval(secs => $1),
       ends_at = ends_at - make_interval(secs => $1) where ends_at <= clock_timestamp()`,
    [milliseconds / 1_000],
  );
const seal = async (keys: EpochKeys, subject = randomUUID()) => {
  const sealed = (await new SubjectKeys(pool, keys).create(subject, 'ws_1')).seal('input', SECRET);
  return { subject, sealed };
};
const wrappedBy = async () => Object.fromEntries(await countByKey(pool, SUBJECT_KEY_COLUMN));

describe('EpochKeys', () => {
  it('begin one epoch, by however many processes at once', async () => {
    const current = await Promise.all(Array.from({ length: 8 }, () => keysOf().current()));
    expect(new Set(current.map(({ id, key }) => `${id} ${key.toString('hex')}`)).size).toBe(1);
    expect(readdirSync(folder)).toHaveLength(1);
    expect(await rows.all()).toHaveLength(1);
  });

  it('begin none beside the one that another process began since they looked', async () => {
    const other = keysOf();
    const late = keysOf();
    const looked = jest.spyOn(EpochRows.prototype, 'current').mockImplementationOnce(async () => {
      looked.mockRestore();
      await other.current();
      return null;
    });
    expect((await late.current()).id).toBe((await other.current()).id);
    expect(await rows.all()).toHaveLength(1);
  });

  it('store no key under an epoch that has ended: it is wrapped by the next one', async () => {
    const [lagging, other] = [keysOf(), keysOf()];
    const first = (await lagging.current()).id;
    const next = await upkeepOf(other).advance();
    expect((await lagging.current()).id).toBe(first);
    const { subject, sealed } = await seal(lagging);
    expect(await wrappedBy()).toEqual({ [next]: 1 });
    expect((await new SubjectKeys(pool, other).find(subject))!.open('input', sealed)).toEqual(SECRET);
  });

  it('open what ENCRYPTION_KEYS wrapped before there were epochs, and without an epoch go on with them', async () => {
    const subject = randomUUID();
    const sealed = (await new SubjectKeys(pool, RING).create(subject, 'ws_1')).seal('input', SECRET);
    expect((await new SubjectKeys(pool, keysOf()).find(subject))!.open('input', sealed)).toEqual(SECRET);
    await seal(keysOf({ provider: 'environment' }));
    expect(await wrappedBy()).toEqual({ k1: 2 });
  });

  it('make no key in a folder that is not the one, and take nothing there for erased', async () => {
    const { subject } = await seal(keysOf());
    await rows.end('file');
    const unmounted = keysOf({ folder: join(parent, 'unmounted') });
    await expect(unmounted.current()).rejects.toThrow(/is it the right place/);
    await expect(new SubjectKeys(pool, unmounted).find(subject)).rejects.toBeInstanceOf(KeysUnavailable);
    expect(await rows.all()).toHaveLength(1);
  });

  it('do not take another key of the same name for theirs', async () => {
    const { id } = await keysOf().current();
    const other = join(parent, randomUUID());
    await new FileKeyStore(other, RING).make(id);
    await expect(keysOf({ folder: other }).named(id)).rejects.toThrow(
      /another one than the one that wrapped/,
    );
  });

  it('go on for a while when their keeper is away, and forget a destroyed key in time', async () => {
    let now = 0;
    const keys = keysOf({ cacheMs: 1_000, now: () => now });
    const { id } = await keys.current();
    rmSync(folder, { recursive: true });
    now = 12_500;
    expect((await keys.current()).id).toBe(id);
    now = 14_500;
    await expect(keys.current()).rejects.toBeInstanceOf(KeysUnavailable);

    const store = new FileKeyStore(folder, RING);
    await pool.query('truncate platform.key_epoch');
    const again = keysOf({ cacheMs: 1_000, now: () => now });
    const { id: second } = await again.current();
    await store.destroy(second);
    now += 999;
    await again.named(second);
    now += 1;
    await expect(again.named(second)).rejects.toBeInstanceOf(KeyDestroyed);
  });

  it('ask a KMS once for an epoch, not for a reading, and say when it is away', async () => {
    kms = await startKms();
    const client = new VaultClient({ url: kms.url, token: kms.token, timeoutMs: 2_000 });
    const keysInKms = () =>
      new EpochKeys(pool, RING, [new VaultKeyStore(client, { mount: 'transit', prefix: 'p' })], {
        provider: 'vault',
        lengthMs: WEEK_MS,
        cacheMs: 60_000,
      });
    const keys = keysInKms();
    const made = await Promise.all(Array.from({ length: 50 }, () => seal(keys)));
    expect(kms.calls.length).toBeLessThanOrEqual(4);
    kms.mood = 503;
    expect(
      (await new SubjectKeys(pool, keys).find(made[0]!.subject))!.open('input', made[0]!.sealed),
    ).toEqual(SECRET);
    await seal(keys);
    await expect(new SubjectKeys(pool, keysInKms()).ready()).rejects.toBeInstanceOf(KeysUnavailable);
    kms.mood = 'well';
    await upkeepOf(keys).advance();
    await upkeepOf(keys).round(never);
    expect([...kms.keys.keys()].filter((name) => name.endsWith('destroyed'))).toHaveLength(1);
    expect(
      (await new SubjectKeys(pool, keysInKms()).find(made[0]!.subject))!.open('input', made[0]!.sealed),
    ).toEqual(SECRET);
  });
});

describe('Upkeep of keys', () => {
  it('wraps survivors anew while others are made, destroys the key of the epoch, and leaves the erased shut', async () => {
    const keys = keysOf();
    const [erased, ...survivors] = await Promise.all(Array.from({ length: 30 }, () => seal(keys)));
    const former = await new SubjectKeys(pool, RING).create(randomUUID(), 'ws_1');
    const { rows: copies } = await pool.query('select * from platform.subject_key where subject_id = $1', [
      erased!.subject,
    ]);
    await new SubjectKeys(pool, keys).destroy(erased!.subject);
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
    expect((await rows.find(first))!.destroyedAt).not.toBeNull();

    const later = new SubjectKeys(pool, keysOf());
    for (const { subject, sealed } of [...survivors, made])
      expect((await later.find(subject))!.open('input', sealed)).toEqual(SECRET);
    // A row from a backup of that time.
    const { subject_id, workspace_id, wrapped_key } = copies[0] as Record<string, unknown>;
    await pool.query(
      'insert into platform.subject_key (subject_id, workspace_id, wrapped_key) values ($1, $2, $3)',
      [subject_id, workspace_id, wrapped_key],
    );
    expect(await later.find(erased!.subject)).toBeNull();
  });

  it('destroys nothing before its time, nor without notice', async () => {
    const keys = keysOf();
    await seal(keys);
    await upkeepOf(keys).advance();
    const patient = upkeepOf(keys, { retentionMs: 3_600_000, noticeMs: 600_000 });
    await patient.round(never);
    expect((await patient.retire()).destroyed).toEqual([]);
    // All workers were away when it should have been announced.
    await age(3_700_000);
    expect((await patient.retire()).destroyed).toEqual([]);
    expect((await rows.all())[0]!.announcedAt).not.toBeNull();
    await pool.query(`update platform.key_epoch set announced_at = announced_at - interval '601 s'`);
    expect((await patient.retire()).destroyed).toHaveLength(1);
    expect(await keys.store!.list()).toHaveLength(1);
  });

  it('destroys nothing while clocks disagree', async () => {
    const keys = keysOf();
    await seal(keys);
    await upkeepOf(keys).advance();
    const wrong = upkeepOf(keys, { skewMs: 1_000 }, () => Date.now() + 40 * 86_400_000);
    await wrong.rewrapAll(() => undefined);
    await age(1_000);
    const { destroyed, waiting } = await wrong.retire();
    expect(destroyed).toEqual([]);
    expect(waiting).toEqual([{ epoch: expect.any(String), why: expect.stringMatching(/clocks/) }]);
  });

  it('destroys no key that a row needs: not wrapped anew, or come back', async () => {
    const keys = keysOf();
    const { subject } = await seal(keys);
    const { rows: copies } = await pool.query<{ wrapped_key: Buffer }>(
      'select wrapped_key from platform.subject_key',
    );
    await upkeepOf(keys).advance();
    await age(1_000);
    expect((await upkeepOf(keys).retire()).waiting[0]!.why).toMatch(/have not been wrapped anew/);
    await upkeepOf(keys).rewrapAll(() => undefined);
    await pool.query('update platform.subject_key set wrapped_key = $1', [copies[0]!.wrapped_key]);
    expect((await upkeepOf(keys).retire()).waiting[0]!.why).toMatch(/have come back/);
    expect(await new SubjectKeys(pool, keysOf()).find(subject)).not.toBeNull();
    const bounds = { retentionMs: 1, noticeMs: 0, ringIds: ['k1'] };
    expect(await overdueEpochs(pool, bounds)).toBe(0);
    await age(2 * 86_400_000);
    await pool.query(`update platform.key_epoch set announced_at = null`);
    await upkeepOf(keys).retire();
    await pool.query(`update platform.key_epoch set announced_at = announced_at - interval '2 days'`);
    expect(await overdueEpochs(pool, bounds)).toBe(1);
    const [ended, current] = await epochStatus(pool, bounds);
    expect(ended).toMatchObject({ state: 'overdue', rows: 1, provider: 'file' });
    expect(current).toMatchObject({ state: 'current', rows: 0, destroyAt: expect.any(String) });
  });

  it('destroys keys, too, that a restored database knows nothing of', async () => {
    const keys = keysOf();
    await seal(keys);
    const store = new FileKeyStore(folder, RING);
    await store.make('20260105T000000Z');
    await upkeepOf(keys).round(never);
    await age(1_000);
    await upkeepOf(keysOf()).round(never);
    expect(await store.open('20260105T000000Z')).toBe('destroyed');
    expect(await store.list()).toEqual([(await keys.current()).id]);
  });

  it('empties the epochs of a service that went back to ENCRYPTION_KEYS, and destroys their keys', async () => {
    const { subject, sealed } = await seal(keysOf());
    await rows.end('file');
    await age(1_000);
    const back = keysOf({ provider: 'environment' });
    await upkeepOf(back).round(never);
    expect(await wrappedBy()).toEqual({ k1: 1 });
    expect(readdirSync(folder).every((name) => name.endsWith('.destroyed'))).toBe(true);
    expect((await new SubjectKeys(pool, back).find(subject))!.open('input', sealed)).toEqual(SECRET);
  });

  it('with ENCRYPTION_KEYS says which key is due, and never destroys one', async () => {
    const keys = keysOf({ provider: 'environment' });
    await upkeepOf(keys).round(never);
    const bounds = { retentionMs: 1_000, noticeMs: 0, ringIds: ['k1', 'k0'] };
    expect(await epochStatus(pool, bounds)).toMatchObject([{ epoch: 'k1', state: 'current' }]);
    await pool.query(
      `insert into platform.key_epoch (epoch, provider, ends_at) values ('k0', 'environment', now() - interval '1 minute')`,
    );
    await upkeepOf(keys).round(never);
    expect((await epochStatus(pool, bounds)).find(({ epoch }) => epoch === 'k0')!.state).toBe('due');
    const rotated = await epochStatus(pool, { ...bounds, ringIds: ['k1'] });
    expect(rotated.find(({ epoch }) => epoch === 'k0')!.state).toBe('destroyed');
  });
});
