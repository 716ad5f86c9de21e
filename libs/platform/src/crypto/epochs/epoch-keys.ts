import { resolve } from 'node:path';
import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import type { Config } from '../../config/settings.js';
import type { KeyRing } from '../key-ring.js';
import { KeyDestroyed, KeysUnavailable, type WrappingKey, type WrappingKeys } from '../wrapping-keys.js';
import { epochAt, fingerprintOf, startOf } from './epoch.js';
import { EpochRows, type EpochRow } from './epoch-rows.js';
import { FileKeyStore } from './file-key-store.js';

export interface EpochSettings {
  readonly lengthMs: number;
  /** How long an opened key is cached (ms); within this time, the process forgets a destroyed key. */
  readonly cacheMs: number;
}

/** How long an opened epoch key is kept (ms). */
const OPENED_EPOCH_MS = 300_000;
/** More epochs than ever have keys at a time. */
const MOST_OPENED = 1_000;
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
      max: MOST_OPENED,
      ...forgetting,
      perf,
      fetchMethod: (id) => this.find(id),
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
