import type { Pool } from 'pg';
import { LONGEST_TIMER_MS } from '../../config/setting.js';
import type { KeyRing } from '../key-ring.js';
import { KeyDestroyed, KeysUnavailable, type WrappingKey, type WrappingKeys } from '../wrapping-keys.js';
import { epochAt, fingerprintOf, startOf } from './epoch.js';
import { EpochRows, type EpochRow, type Provider } from './epoch-rows.js';
import type { EpochKeyStore } from './key-store.js';

export interface EpochSettings {
  /** The keeper of the keys that wrap from now on; keys of any given store still open. */
  readonly provider: Provider;
  readonly lengthMs: number;
  /** How long an opened key is cached (ms); within this time, the process forgets a destroyed key. */
  readonly cacheMs: number;
}

interface Opened {
  readonly key: Buffer | 'destroyed';
  /** On this process's monotonic clock. */
  readonly until: number;
  /** When to ask a keeper that has just failed again. */
  retryAt?: number;
}

/** Pause after a failure, so that an unavailable KMS is not flooded. */
const PAUSE_AFTER_FAILURE_MS = 500;
/**
 * How long a cached key serves after a failure: otherwise a KMS that drops packets would cost every caller its
 * time-outs.
 */
const PAUSE_WHILE_KNOWN_MS = 5_000;
/** How many times longer an opened key serves while its keeper is unavailable. */
const OUTAGE_FACTOR = 12;
const BEGINNINGS = 3;

/**
 * The key-encryption keys of data keys, one for each epoch. PostgreSQL determines the epoch by its own clock, so that
 * all processes agree. The key comes from the store, which keeps it apart from PostgreSQL. Data keys that
 * ENCRYPTION_KEYS wrapped before epochs existed still open.
 */
export class EpochKeys implements WrappingKeys {
  private readonly rows: EpochRows;
  private readonly opened = new Map<string, Opened>();
  private readonly opening = new Map<string, Promise<Buffer>>();
  private wraps: { readonly key: WrappingKey; readonly until: number } | null = null;
  private asking: Promise<WrappingKey> | null = null;
  private hasNoEpochs = false;
  private failed: { readonly error: unknown; readonly until: number } | null = null;

  constructor(
    pool: Pool,
    private readonly ring: KeyRing,
    readonly stores: readonly EpochKeyStore[],
    private readonly settings: EpochSettings,
    private readonly steadyNow: () => number = () => performance.now(),
  ) {
    this.rows = new EpochRows(pool);
  }

  async current(): Promise<WrappingKey> {
    if (this.settings.provider === 'environment') {
      await this.requireNoEpochs();
      return this.ring.current();
    }
    const now = this.steadyNow();
    if (this.wraps && this.wraps.until > now) return this.wraps.key;
    if (this.failed && this.failed.until > now) throw this.failed.error;
    this.asking ??= this.ask().finally(() => (this.asking = null));
    return this.asking;
  }

  async named(id: string): Promise<Buffer> {
    // Any id that is not an epoch's name is, or was, one of ENCRYPTION_KEYS.
    if (startOf(id) === null) return this.ring.named(id);
    const known = this.opened.get(id);
    const now = this.steadyNow();
    if (known && (known.until > now || (known.retryAt ?? 0) > now)) return usable(id, known.key);
    const running = this.opening.get(id) ?? this.open(id).finally(() => this.opening.delete(id));
    this.opening.set(id, running);
    return running;
  }

  renew(): void {
    this.wraps = null;
  }

  async other(id: string, than: Buffer): Promise<Buffer | null> {
    if (startOf(id) === null) return null;
    const row = await this.rows.find(id);
    if (!row?.fingerprint || fingerprintOf(id, than).equals(row.fingerprint)) return null;
    this.drop(id, than);
    return this.named(id);
  }

  /** The id of the key that wraps now; `null` when it does not exist yet. Starts no epoch and asks no keeper. */
  async wrapsNow(): Promise<string | null> {
    const { provider } = this.settings;
    if (provider === 'environment') return this.ring.currentKeyId;
    return (await this.rows.current(provider))?.row.epoch ?? null;
  }

  /** The store of the current provider; `null` with `environment`. */
  get store(): EpochKeyStore | null {
    const { provider } = this.settings;
    return provider === 'environment' ? null : this.storeOf(provider);
  }

  /** @throws KeysUnavailable when this process has no such store */
  storeOf(provider: Provider): EpochKeyStore {
    const store = this.stores.find((one) => one.provider === provider);
    if (!store)
      throw new KeysUnavailable(`"${provider}" keeps epoch keys and is not configured here: KEY_DIRECTORY`);
    return store;
  }

  /** A process that lacks KEY_DIRECTORY would wrap keys of readings with one that outlives them. */
  private async requireNoEpochs(): Promise<void> {
    this.hasNoEpochs ||= !(await this.rows.hasEpochs());
    if (!this.hasNoEpochs)
      throw new KeysUnavailable(
        'keys of epochs wrap the keys of readings, and KEY_DIRECTORY is not set here',
      );
  }

  private async ask(): Promise<WrappingKey> {
    const askedAt = this.steadyNow();
    try {
      const { row, remainingMs } = await this.currentRow();
      const key = await this.keyOf(row);
      const until = askedAt + Math.min(remainingMs, this.settings.cacheMs);
      this.wraps = { key: { id: row.epoch, key, fingerprint: fingerprintOf(row.epoch, key) }, until };
      return this.wraps.key;
    } catch (error) {
      this.failed = { error, until: this.steadyNow() + PAUSE_AFTER_FAILURE_MS };
      throw error;
    }
  }

  /**
   * A lost row may have been created again with a different key than the one this process has cached under its name.
   */
  private async keyOf({ epoch, fingerprint }: EpochRow): Promise<Buffer> {
    const key = await this.named(epoch);
    if (!fingerprint || fingerprintOf(epoch, key).equals(fingerprint)) return key;
    this.drop(epoch, key);
    return this.named(epoch);
  }

  private drop(id: string, key: Buffer): void {
    if (this.opened.get(id)?.key === key) this.opened.delete(id);
    if (this.wraps?.key.key === key) this.wraps = null;
  }

  private async currentRow(): Promise<{ row: EpochRow; remainingMs: number }> {
    const { provider } = this.settings;
    for (let beginning = 0; beginning < BEGINNINGS; beginning += 1) {
      const found = await this.rows.current(provider);
      if (found) return found;
      await this.begin(provider);
    }
    throw new KeysUnavailable('Could not start an epoch of key-encryption keys; retry in a second');
  }

  /** Any number of processes may start the same epoch at once: the store keeps one key, PostgreSQL one row. */
  private async begin(provider: Provider): Promise<void> {
    const store = this.storeOf(provider);
    const before = await this.rows.before(provider);
    if (before === null) return;
    const { now, lastEnd, newest } = before;
    // In an unmounted or wrong folder, new keys would be lost with this process.
    if (newest !== null) {
      await this.named(newest).catch((error: unknown) => {
        if (!(error instanceof KeyDestroyed)) throw error;
      });
    }
    const epoch = epochAt(now, this.settings.lengthMs, lastEnd);
    const { key, stored } = await store.make(epoch.id);
    await this.rows.add(epoch, provider, stored, fingerprintOf(epoch.id, key));
  }

  private async open(id: string): Promise<Buffer> {
    const now = this.steadyNow();
    const known = this.opened.get(id);
    let key: Buffer | 'destroyed';
    try {
      key = await this.fetch(id);
      this.keep(id, key, now + this.settings.cacheMs);
    } catch (error) {
      const servesUntil = known ? known.until + this.settings.cacheMs * OUTAGE_FACTOR : 0;
      if (!(error instanceof KeysUnavailable) || !known || servesUntil <= now) throw error;
      key = known.key;
      if (this.opened.get(id) === known)
        known.retryAt = Math.min(this.steadyNow() + PAUSE_WHILE_KNOWN_MS, servesUntil);
    }
    return usable(id, key);
  }

  /** Also drops unused keys from memory. */
  private keep(id: string, key: Buffer | 'destroyed', until: number): void {
    const opened = { key, until };
    this.opened.set(id, opened);
    setTimeout(
      () => {
        if (this.opened.get(id) === opened) this.opened.delete(id);
        if (this.wraps && this.wraps.until <= this.steadyNow()) this.wraps = null;
      },
      Math.min(this.settings.cacheMs * (1 + OUTAGE_FACTOR), LONGEST_TIMER_MS),
    ).unref();
  }

  private async fetch(id: string): Promise<Buffer | 'destroyed'> {
    const row = await this.rows.find(id);
    if (!row) throw new KeysUnavailable(`Unknown epoch ${id}`);
    if (row.destroyedAt !== null) return 'destroyed';
    const key = await this.storeOf(row.provider).open(id, row.stored);
    if (key === 'missing')
      throw new KeysUnavailable(
        `The key of epoch ${id} is not where "${row.provider}" keeps keys: is it the right place? (ops keys status)`,
      );
    if (key !== 'destroyed' && row.fingerprint && !fingerprintOf(id, key).equals(row.fingerprint))
      throw new KeysUnavailable(`The key found for epoch ${id} is another one than the one that wrapped`);
    return key;
  }
}

const usable = (id: string, key: Buffer | 'destroyed'): Buffer => {
  if (key === 'destroyed') throw new KeyDestroyed(`The key of epoch ${id} was destroyed`);
  return key;
};
