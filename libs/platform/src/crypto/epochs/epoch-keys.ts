import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import type { Pool } from 'pg';
import { askedTogether } from '../../postgres/asked-together.js';
import { constants } from 'node:fs';
import { link, mkdir, open, readFile, readdir, rename, stat, unlink, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { KeyRing } from '../key-ring.js';
import { SealBroken } from '../sealing.js';
import {
  KeysUnavailable,
  splitKeyId,
  KeyDestroyed,
  type WrappingKey,
  type WrappingKeys,
} from '../wrapping-keys.js';
import { LRUCache } from 'lru-cache';
import type { Config } from '../../config/settings.js';

/** A period in which one key-encryption key wraps. Milliseconds since 1970, UTC. */
export interface Epoch {
  /** Its start, such as `20261116T000000Z`; no id of ENCRYPTION_KEYS has this form. */
  readonly id: string;
  readonly startsAt: number;
  readonly endsAt: number;
}

/** The first Monday after 1970-01-01, so that epochs of a week start on Mondays. */
const FIRST_MONDAY_MS = 4 * 86_400_000;
const SECOND_MS = 1_000;

const idOf = (startsAt: number): string =>
  new Date(startsAt)
    .toISOString()
    .replace(/\.\d{3}Z$/, 'Z')
    .replace(/[-:]/g, '');

/**
 * The epoch that starts at or before `now`. Epochs of one length are contiguous. None starts before the previous one
 * has ended, so that a changed length or an early end never yields two epochs with one name.
 * @param lengthMs at least a second
 * @param after when the previous epoch ended; 0 without one
 */
export const epochAt = (now: number, lengthMs: number, after: number): Epoch => {
  const aligned = now - ((now - FIRST_MONDAY_MS) % lengthMs);
  const startsAt = Math.ceil(Math.max(aligned, after) / SECOND_MS) * SECOND_MS;
  // A previous end just before the regular boundary would leave an epoch of almost no time.
  const endsAt = Math.max(aligned + lengthMs, startsAt + SECOND_MS);
  return { id: idOf(startsAt), startsAt, endsAt };
};

const EPOCH_ID = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/;

/** When the epoch of this name started; `null` for any other name. */
export const startOf = (id: string): number | null => {
  const parts = EPOCH_ID.exec(id);
  if (!parts) return null;
  const [, year, month, day, hour, minute, second] = parts;
  const at = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(at) ? null : at;
};

/** Distinguishes two keys of the same name without revealing either (HMAC-SHA-256, truncated to 128 bits). */
export const fingerprintOf = (id: string, key: Uint8Array): Buffer =>
  createHmac('sha256', key).update(`key-epoch|${id}`).digest().subarray(0, 16);

export type Provider = 'environment' | 'file';

/** PostgreSQL's record of an epoch. Times in milliseconds since 1970, by its clock. */
export interface EpochRow {
  readonly epoch: string;
  readonly provider: Provider;
  readonly fingerprint: Buffer | null;
  readonly startedAt: number;
  /** `null` while unknown, and with the provider `environment`. */
  readonly endsAt: number | null;
  readonly emptiedAt: number | null;
  readonly announcedAt: number | null;
  readonly destroyedAt: number | null;
}

const WRITERS_PASS_WITHIN_MS = 200;
const LOCK_NOT_AVAILABLE = '55P03';

const ms = (column: string): string => `(extract(epoch from ${column}) * 1000)::float8`;

const COLUMNS = `epoch, provider, fingerprint, ${ms('started_at')} as "startedAt",
  ${ms("nullif(ends_at, 'infinity')")} as "endsAt", ${ms('emptied_at')} as "emptiedAt",
  ${ms('announced_at')} as "announcedAt", ${ms('destroyed_at')} as "destroyedAt"`;

/** The statements on `platform.key_epoch`. Every time is PostgreSQL's. */
export class EpochRows {
  /** One statement for all readings that are ordered at the same moment. */
  private readonly wrapping = askedTogether(async (asked: readonly 'now'[]) => {
    const { rows } = await this.pool.query<EpochRow>(
      `select ${COLUMNS} from platform.key_epoch
       where provider = 'file' and ends_at > clock_timestamp() and destroyed_at is null
       order by started_at desc limit 1`,
    );
    return asked.map(() => rows[0] ?? null);
  });

  constructor(private readonly pool: Pool) {}

  async all(): Promise<readonly EpochRow[]> {
    const { rows } = await this.pool.query<EpochRow>(
      `select ${COLUMNS} from platform.key_epoch order by started_at, epoch`,
    );
    return rows;
  }

  async find(epoch: string): Promise<EpochRow | null> {
    const { rows } = await this.pool.query<EpochRow>(
      `select ${COLUMNS} from platform.key_epoch where epoch = $1`,
      [epoch],
    );
    return rows[0] ?? null;
  }

  /** The epoch whose key wraps now. */
  current(): Promise<EpochRow | null> {
    return this.wrapping('now');
  }

  /**
   * What the next epoch follows: the newest epoch whose key is not destroyed, and the earliest start. That is after the
   * end of all ended epochs, and a second after the start of open ones. `null` while an epoch wraps: another process has
   * just started it.
   */
  async before(): Promise<{ now: number; lastEnd: number; newest: string | null } | null> {
    const { rows } = await this.pool.query<{
      wraps: boolean;
      now: number;
      lastEnd: number | null;
      newest: string | null;
    }>(
      `select exists (select from platform.key_epoch
                      where provider = 'file' and ends_at > clock_timestamp() and destroyed_at is null) as wraps,
              ${ms('clock_timestamp()')} as now,
              (select ${ms("max(case when ends_at <= clock_timestamp() then ends_at else started_at + interval '1 second' end)")}
               from platform.key_epoch where provider <> 'environment') as "lastEnd",
              (select epoch from platform.key_epoch where provider = 'file' and destroyed_at is null
               order by started_at desc limit 1) as newest`,
    );
    const { wraps, now, lastEnd, newest } = rows[0]!;
    return wraps ? null : { now, lastEnd: lastEnd ?? 0, newest };
  }

  /** When several processes start the same epoch, the first one wins. */
  async add({ id, startsAt, endsAt }: Epoch, fingerprint: Buffer): Promise<void> {
    await this.pool.query(
      `insert into platform.key_epoch (epoch, provider, fingerprint, started_at, ends_at)
       values ($1, 'file', $2, to_timestamp($3::float8 / 1000), to_timestamp($4::float8 / 1000)) on conflict do nothing`,
      [id, fingerprint, startsAt, endsAt],
    );
  }

  /** Adds, as ended, an epoch whose key exists but that this database, restored from a backup, does not have. */
  async adopt(epoch: string, startsAt: number): Promise<void> {
    await this.pool.query(
      `insert into platform.key_epoch (epoch, provider, started_at, ends_at)
       values ($1, 'file', to_timestamp($2::float8 / 1000), clock_timestamp()) on conflict do nothing`,
      [epoch, startsAt],
    );
  }

  /** Whether there are keys of epochs that are not destroyed. */
  async hasEpochs(): Promise<boolean> {
    const { rows } = await this.pool.query<{ has: boolean }>(
      `select exists (select from platform.key_epoch where provider <> 'environment' and destroyed_at is null) as has`,
    );
    return rows[0]!.has;
  }

  /** With the provider `environment`, the ids of ENCRYPTION_KEYS are the epochs: one seals, the others have ended. */
  async recordRing(currentId: string): Promise<void> {
    await this.pool.query(
      `insert into platform.key_epoch (epoch, provider, ends_at) values ($1, 'environment', 'infinity')
       on conflict (epoch) do update set ends_at = 'infinity', destroyed_at = null
       where key_epoch.ends_at <> 'infinity' or key_epoch.destroyed_at is not null`,
      [currentId],
    );
    await this.endRing(currentId);
  }

  async endRing(currentId: string | null): Promise<void> {
    await this.pool.query(
      `update platform.key_epoch set ends_at = clock_timestamp()
       where provider = 'environment' and ends_at = 'infinity' and epoch is distinct from $1`,
      [currentId],
    );
  }

  /** Ends the current epoch early. */
  async end(): Promise<void> {
    await this.pool.query(
      `update platform.key_epoch set ends_at = clock_timestamp()
       where provider = 'file' and ends_at > clock_timestamp()`,
    );
  }

  async markEmptied(epochs: readonly string[]): Promise<void> {
    await this.pool.query(
      `update platform.key_epoch set emptied_at = clock_timestamp()
       where epoch = any($1) and emptied_at is null and ends_at <= clock_timestamp()`,
      [epochs],
    );
  }

  /**
   * Announces the destruction of a key. Replaces an announcement dated in the future, which came from a wrong clock.
   */
  async announce(epoch: string): Promise<{ readonly announcedAt: number; readonly now: number }> {
    const { rows } = await this.pool.query<{ announcedAt: number; now: number }>(
      `update platform.key_epoch set announced_at = least(announced_at, clock_timestamp()) where epoch = $1
       returning ${ms('announced_at')} as "announcedAt", ${ms('clock_timestamp()')} as now`,
      [epoch],
    );
    return rows[0]!;
  }

  /** Marks a key as destroyed. A lost current key may be marked too, which ends its epoch. */
  async markDestroyed(epoch: string): Promise<void> {
    await this.pool.query(
      `update platform.key_epoch set destroyed_at = clock_timestamp(), ends_at = least(ends_at, clock_timestamp())
       where epoch = $1 and destroyed_at is null`,
      [epoch],
    );
  }

  /**
   * Takes the mark back from an epoch whose key was there after all. The epoch stays ended. Its rows are rewrapped and
   * its destruction is announced anew, because both may have been noted before the mark.
   */
  async unmarkDestroyed(epoch: string): Promise<void> {
    await this.pool.query(
      `update platform.key_epoch set destroyed_at = null, emptied_at = null, announced_at = null
       where epoch = $1 and provider = 'file' and destroyed_at is not null`,
      [epoch],
    );
  }

  async now(): Promise<number> {
    const { rows } = await this.pool.query<{ now: number }>(`select ${ms('clock_timestamp()')} as now`);
    return rows[0]!.now;
  }

  /**
   * Waits for every statement that was storing keys at the time of the call. Later statements are checked against the
   * current ends of epochs. They wait too, so this waits only briefly.
   * @returns whether all of them have ended
   */
  async writersPassed(): Promise<boolean> {
    try {
      // One message is one implicit transaction: the server ends it, even if this process freezes meanwhile.
      await this.pool.query(
        `set local lock_timeout = '${WRITERS_PASS_WITHIN_MS}ms'; lock table platform.subject_key in share mode`,
      );
      return true;
    } catch (error) {
      if ((error as { code?: unknown }).code === LOCK_NOT_AVAILABLE) return false;
      throw error;
    }
  }
}

const KEY = '.key';
const DESTROYED = '.destroyed';

/**
 * Epoch keys as files in a folder, each sealed with the first of ENCRYPTION_KEYS: the folder alone opens nothing. Every
 * process of the service needs the same folder. Destroying a key overwrites and unlinks its file. A copy-on-write file
 * system, an SSD or a snapshot may keep the old bytes, which still need ENCRYPTION_KEYS to open.
 *
 * Every method throws KeysUnavailable when the folder does not let it do its work.
 */
export class FileKeyStore {
  constructor(
    private readonly folder: string,
    private readonly ring: KeyRing,
  ) {}

  /** Makes the key of an epoch whose key was not destroyed, or returns the existing one: all processes get the same. */
  make(epoch: string): Promise<Buffer> {
    return this.attempt(`make the key of ${epoch}`, async () => {
      await mkdir(this.folder, { recursive: true, mode: 0o700 });
      if (await exists(this.path(epoch, DESTROYED)))
        throw new KeysUnavailable(`The key of epoch ${epoch} was destroyed; it is not made again`);
      const draft = this.path(epoch, `.${randomUUID()}.draft`);
      await writeNew(draft, this.ring.seal(context(epoch), randomBytes(32)));
      // Unlike a rename, a link fails when another process was first.
      await link(draft, this.path(epoch, KEY)).catch(unless('EEXIST'));
      await unlink(draft);
      await this.sync();
      const key = await this.read(epoch);
      if (!key) throw new KeysUnavailable(`The key of epoch ${epoch} disappeared while it was being made`);
      return key;
    });
  }

  /**
   * `destroyed` only when the folder remembers it. An absent key may only mean an unmounted volume, and must not count as
   * an erasure.
   */
  open(epoch: string): Promise<Buffer | 'destroyed' | 'missing'> {
    return this.attempt(`open the key of ${epoch}`, async () => {
      // The destruction mark wins over files that a process killed during resealing left behind.
      if (await exists(this.path(epoch, DESTROYED))) return 'destroyed';
      return (await this.read(epoch)) ?? 'missing';
    });
  }

  /** Destroys the key permanently, and remembers it. Idempotent. */
  destroy(epoch: string): Promise<void> {
    return this.attempt(`destroy the key of ${epoch}`, async () => {
      await writeNew(this.path(epoch, DESTROYED), Buffer.alloc(0)).catch(unless('EEXIST'));
      await this.sync();
      // Includes drafts of a process that was killed while making the key.
      for (const name of await readdir(this.folder)) {
        if (name.startsWith(`${epoch}.`) && !name.endsWith(DESTROYED))
          await shred(join(this.folder, name)).catch(unless('ENOENT'));
      }
      await this.sync();
    });
  }

  /** Epochs whose keys still exist. */
  list(): Promise<readonly string[]> {
    return this.attempt('list the epoch keys', () => this.epochs());
  }

  /** How many keys each of ENCRYPTION_KEYS has sealed here, by its id. */
  sealedBy(): Promise<ReadonlyMap<string, number>> {
    return this.attempt('read the epoch keys', async () => {
      const counts = new Map<string, number>();
      for (const epoch of await this.epochs()) {
        const { id } = splitKeyId(await readFile(this.path(epoch, KEY)));
        counts.set(id, (counts.get(id) ?? 0) + 1);
      }
      return counts;
    });
  }

  /** Seals again with the first of ENCRYPTION_KEYS what others of them sealed. @returns how many */
  reseal(): Promise<number> {
    return this.attempt('reseal the epoch keys', async () => {
      let resealed = 0;
      for (const epoch of await this.epochs()) {
        const path = this.path(epoch, KEY);
        if (await exists(this.path(epoch, DESTROYED))) {
          await this.destroy(epoch);
          continue;
        }
        const bytes = await readFile(path);
        if (splitKeyId(bytes).id === this.ring.currentKeyId) continue;
        const draft = this.path(epoch, `.${randomUUID()}.draft`);
        await writeNew(draft, this.ring.seal(context(epoch), this.ring.open(context(epoch), bytes)));
        await rename(draft, path);
        // Another process has destroyed it in the meantime: do not recreate it.
        if (await exists(this.path(epoch, DESTROYED))) await this.destroy(epoch);
        resealed += 1;
      }
      if (resealed > 0) await this.sync();
      return resealed;
    });
  }

  private async epochs(): Promise<readonly string[]> {
    const names = (await readdir(this.folder).catch(unless('ENOENT'))) ?? [];
    const epochs = names.filter((name) => name.endsWith(KEY)).map((name) => name.slice(0, -KEY.length));
    return epochs.filter((epoch) => startOf(epoch) !== null).sort();
  }

  private async read(epoch: string): Promise<Buffer | null> {
    const bytes = await readFile(this.path(epoch, KEY)).catch(unless('ENOENT'));
    return bytes ? this.ring.open(context(epoch), bytes) : null;
  }

  private path(epoch: string, ending: string): string {
    // Names come from the database; none may point outside the folder.
    if (startOf(epoch) === null) throw new TypeError(`${epoch} is not the name of an epoch`);
    return join(this.folder, `${epoch}${ending}`);
  }

  /** Makes creation and removal survive a power cut. */
  private async sync(): Promise<void> {
    const folder = await open(this.folder, constants.O_RDONLY);
    try {
      await folder.sync();
    } finally {
      await folder.close();
    }
  }

  private async attempt<T>(what: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof KeysUnavailable) throw error;
      if (error instanceof SealBroken)
        throw new KeysUnavailable(`Cannot ${what} in KEY_DIRECTORY: ENCRYPTION_KEYS do not open it`);
      throw new KeysUnavailable(
        `Cannot ${what} in KEY_DIRECTORY: ${(error as NodeJS.ErrnoException).code ?? (error as Error).name}`,
        { cause: error },
      );
    }
  }
}

const context = (epoch: string): string => `key-epoch|${epoch}`;

const writeNew = (path: string, bytes: Buffer): Promise<void> =>
  writeFile(path, bytes, { flag: 'wx', mode: 0o600, flush: true });

const shred = async (path: string): Promise<void> => {
  const { size } = await stat(path);
  // In place: the file is not truncated.
  await writeFile(path, randomBytes(Math.max(size, 1)), { flag: 'r+', flush: true });
  await unlink(path);
};

const exists = async (path: string): Promise<boolean> =>
  (await stat(path).catch(unless('ENOENT'))) !== undefined;

const unless =
  (code: string) =>
  (error: unknown): undefined => {
    if ((error as NodeJS.ErrnoException).code !== code) throw error;
    return undefined;
  };

export interface EpochSettings {
  readonly lengthMs: number;
  /** How long an opened key is cached (ms); within this time, the process forgets a destroyed key. */
  readonly cacheMs: number;
}

/** How long an opened epoch key is kept (ms). */
const OPENED_EPOCH_MS = 300_000;
/** More epochs than ever have keys at a time. */
const MAX_OPENED = 1_000;
const BEGINNINGS = 3;

/** The key-encryption keys as configured: those of the epochs in KEY_DIRECTORY, or else ENCRYPTION_KEYS. */
export const openEpochKeys = (pool: Pool, ring: KeyRing, config: Config): EpochKeys => {
  const { KEY_DIRECTORY: folder, KEY_EPOCH_MS: lengthMs } = config;
  const store = folder ? new FileKeyStore(resolve(folder), ring) : null;
  return new EpochKeys(pool, ring, store, { lengthMs, cacheMs: OPENED_EPOCH_MS });
};

/**
 * The key-encryption keys of data keys, one for each epoch. PostgreSQL determines the epoch by its own clock, so that
 * all processes agree. The key comes from the store, which keeps it apart from PostgreSQL. Data keys that
 * ENCRYPTION_KEYS wrapped before epochs existed still open.
 */
export class EpochKeys implements WrappingKeys {
  private readonly rows: EpochRows;
  private readonly opened: LRUCache<string, Buffer | 'destroyed'>;

  /** @param store the keeper of the keys; `null`: ENCRYPTION_KEYS wrap */
  constructor(
    pool: Pool,
    private readonly ring: KeyRing,
    readonly store: FileKeyStore | null,
    private readonly settings: EpochSettings,
    steadyNow: () => number = () => performance.now(),
  ) {
    this.rows = new EpochRows(pool);
    const perf = { now: steadyNow };
    // One look for any number of callers; unused keys are dropped from memory.
    const forgetting = { ttl: settings.cacheMs, ttlAutopurge: true, ttlResolution: 0 };
    this.opened = new LRUCache({
      max: MAX_OPENED,
      ...forgetting,
      perf,
      fetchMethod: (id) => this.find(id),
      // A busy event loop may drop a key before those who wait for it were answered.
      ignoreFetchAbort: true,
    });
  }

  /** The key of the current epoch, which begins if there is none. */
  async current(): Promise<WrappingKey> {
    if (this.store === null) {
      // A process that lacks KEY_DIRECTORY would wrap keys of readings with one that outlives them.
      if (await this.rows.hasEpochs())
        throw new KeysUnavailable(
          'keys of epochs wrap the keys of readings, and KEY_DIRECTORY is not set here',
        );
      return this.ring.current();
    }
    for (let beginning = 0; beginning < BEGINNINGS; beginning += 1) {
      const id = (await this.rows.current())?.epoch;
      if (id !== undefined) {
        const key = await this.named(id);
        return { id, key, fingerprint: fingerprintOf(id, key) };
      }
      await this.begin(this.store);
    }
    throw new KeysUnavailable('Could not start an epoch of key-encryption keys; retry in a second');
  }

  async named(id: string): Promise<Buffer> {
    // Any id that is not an epoch's name is, or was, one of ENCRYPTION_KEYS.
    if (startOf(id) === null) return this.ring.named(id);
    const key = (await this.opened.fetch(id))!;
    if (key === 'destroyed') throw new KeyDestroyed(`The key of epoch ${id} was destroyed`);
    return key;
  }

  /** The id of the key that wraps now; `null` when it does not exist yet. Starts no epoch and opens no key. */
  async wrapsNow(): Promise<string | null> {
    if (this.store === null) return this.ring.currentKeyId;
    return (await this.rows.current())?.epoch ?? null;
  }

  /** @throws KeysUnavailable when this process has no store of epoch keys */
  requireStore(): FileKeyStore {
    if (this.store) return this.store;
    throw new KeysUnavailable(
      'The keys of epochs are in a folder that is not configured here: KEY_DIRECTORY',
    );
  }

  /** Any number of processes may start the same epoch at once: the store keeps one key, PostgreSQL one row. */
  private async begin(store: FileKeyStore): Promise<void> {
    const before = await this.rows.before();
    if (before === null) return;
    const { now, lastEnd, newest } = before;
    // In an unmounted or wrong folder, new keys would be lost with this process.
    if (newest !== null) {
      await this.named(newest).catch((error: unknown) => {
        if (!(error instanceof KeyDestroyed)) throw error;
      });
    }
    const epoch = epochAt(now, this.settings.lengthMs, lastEnd);
    await this.rows.add(epoch, fingerprintOf(epoch.id, await store.make(epoch.id)));
  }

  private async find(id: string): Promise<Buffer | 'destroyed'> {
    const row = await this.rows.find(id);
    if (!row) throw new KeysUnavailable(`Unknown epoch ${id}`);
    if (row.destroyedAt !== null) return 'destroyed';
    const key = await this.requireStore().open(id);
    if (key === 'missing')
      throw new KeysUnavailable(
        `The key of epoch ${id} is not in KEY_DIRECTORY: is it the right place? (ops keys status)`,
      );
    if (key !== 'destroyed' && isAnother(row, key))
      throw new KeysUnavailable(`The key found for epoch ${id} is another one than the one that wrapped`);
    return key;
  }
}

/** Whether a key is not the one that wrapped in an epoch; of an epoch without a fingerprint, nobody can know. */
export const isAnother = (
  { epoch, fingerprint }: Pick<EpochRow, 'epoch' | 'fingerprint'>,
  key: Buffer,
): boolean => fingerprint !== null && !fingerprintOf(epoch, key).equals(fingerprint);
