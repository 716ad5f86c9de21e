import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Config } from '../../config/settings.js';
import type { KeyRing } from '../key-ring.js';
import { rewrap, rowsSealed, countByKey, type Resealer, type Rewrapped } from '../rewrapping.js';
import { open, seal } from '../sealing.js';
import { SUBJECT_KEY_COLUMN } from '../subject-keys.js';
import { KeysUnavailable, splitKeyId, withKeyId } from '../wrapping-keys.js';
import { startOf, isAnother, EpochRows, type EpochKeys, type EpochRow, type Provider } from './epoch-keys.js';
import type { TrustedTime } from '../../time/trusted-time.js';

export interface UpkeepSettings {
  /** How long the key of an epoch is kept after its end (ms). */
  readonly retentionMs: number;
  /** The minimum time between announcing a key's destruction and destroying it (ms). */
  readonly noticeMs: number;
}

export interface Retired {
  readonly destroyed: readonly string[];
  /** Due keys that were not destroyed, and why. */
  readonly waiting: readonly { readonly epoch: string; readonly why: string }[];
}

/** A key in the store without a row in PostgreSQL may be new. Older than this (ms), it remained from a restore. */
const UNKNOWN_AFTER_MS = 600_000;

interface Parts {
  readonly pool: Pool;
  readonly ring: KeyRing;
  readonly keys: EpochKeys;
  readonly time: Pick<TrustedTime, 'compare'>;
  readonly log: Pick<Logger, 'info' | 'warn'>;
}

/**
 * Rewraps the keys of surviving readings with the current epoch's key, and destroys the keys of due epochs. Any number
 * of workers may run it at once: updates are conditional on what was read, and a key is destroyed only when no row can
 * need it.
 */
export class KeyUpkeep {
  private readonly rows: EpochRows;
  private hasLookedAtAll = false;

  constructor(
    private readonly parts: Parts,
    private readonly settings: UpkeepSettings,
  ) {
    this.rows = new EpochRows(parts.pool);
  }

  /** Runs one round. @throws KeysUnavailable, or when PostgreSQL or the event store is unavailable */
  async round(signal: AbortSignal): Promise<void> {
    const { keys, ring, log } = this.parts;
    if (keys.store === null) {
      await this.rows.recordRing(ring.currentKeyId);
    } else {
      await this.rows.endRing(null);
      await keys.current();
    }
    const now = await this.rows.now();
    // The first round finds what ENCRYPTION_KEYS wrapped before KEY_DIRECTORY was set, and what a restore left behind.
    const isFirst = keys.store !== null && !this.hasLookedAtAll;
    if (isFirst || (await this.rows.all()).some((row) => isToBeEmptied(row, now))) {
      await this.adoptUnknown();
      await this.rewrapAll(() => undefined, signal);
      this.hasLookedAtAll = !signal.aborted;
    }
    const { destroyed, waiting } = await this.retire(signal);
    for (const epoch of destroyed) log.info({ epoch }, 'the key of an epoch was destroyed');
    for (const { epoch, why } of waiting)
      log.warn({ epoch, why }, 'the key of an epoch cannot be destroyed yet');
  }

  /**
   * Rewraps with the current key what other keys wrapped, and notes epochs that wrap nothing any more. It reads the
   * rows after every statement that may have stored a key under those epochs.
   */
  async rewrapAll(onProgress: (seen: number) => void, signal?: AbortSignal): Promise<Rewrapped> {
    const { pool } = this.parts;
    const now = await this.rows.now();
    const ended = (await this.rows.all()).filter((row) => isToBeEmptied(row, now));
    const isComplete = ended.length === 0 || (await this.rows.writersPassed());
    const done = await rewrap(pool, await this.resealer(), SUBJECT_KEY_COLUMN, onProgress, signal);
    if (isComplete && !signal?.aborted) {
      const emptied = ended.map(({ epoch }) => epoch).filter((epoch) => !done.left.has(epoch));
      await this.rows.markEmptied(emptied);
    }
    return done;
  }

  /**
   * Destroys each key whose retention after the epoch's end is over. Exceptions: a row needs it, a clock is wrong, or
   * the destruction was not announced.
   */
  async retire(signal?: AbortSignal): Promise<Retired> {
    const { retentionMs, noticeMs } = this.settings;
    const destroyed: string[] = [];
    const waiting: { epoch: string; why: string }[] = [];
    for (const row of await this.rows.all()) {
      if (signal?.aborted) break;
      const dueAt = dueAtOf(row, retentionMs);
      if (dueAt === null || (await this.rows.now()) < dueAt - noticeMs) continue;
      const { announcedAt, now } = await this.rows.announce(row.epoch);
      if (now < Math.max(dueAt, announcedAt + noticeMs)) continue;
      const why = await this.destroy(row);
      if (why === null) destroyed.push(row.epoch);
      else waiting.push({ epoch: row.epoch, why });
    }
    return { destroyed, waiting };
  }

  /** Ends the current epoch early; the next one starts with its first key. */
  async advance(): Promise<string> {
    const { keys } = this.parts;
    if (keys.store === null) return (await keys.current()).id;
    await keys.current();
    await this.rows.end();
    return (await keys.current()).id;
  }

  /** Why the key was not destroyed; `null` when it was. A failing keeper does not block the keys of others. */
  private async destroy(row: EpochRow): Promise<string | null> {
    try {
      const why = await this.obstacle(row);
      if (why !== null) return why;
      await this.parts.keys.requireStore().destroy(row.epoch);
      await this.rows.markDestroyed(row.epoch);
      return null;
    } catch (error) {
      if (error instanceof KeysUnavailable) return error.message;
      throw error;
    }
  }

  private async obstacle(row: EpochRow): Promise<string | null> {
    const { epoch, emptiedAt, fingerprint } = row;
    const { pool, time, keys } = this.parts;
    const { level, message } = await time.compare();
    if (level === 'refused' || level === 'unknown') return message;
    // A database restored from a backup older than the key's end still has it, and rows that it wrapped.
    const key = await keys.requireStore().open(epoch);
    if (key === 'destroyed') return null;
    // In an unmounted or wrong folder, destroying would only lose the knowledge that the key exists.
    if (key === 'missing' ? fingerprint !== null : isAnother(row, key))
      return 'its key is not where it should be (ops keys forget, when it is lost)';
    if (emptiedAt === null) return 'rows that it wrapped have not been rewrapped';
    if (!(await this.rows.writersPassed())) return 'keys are being stored right now';
    for await (const [found] of rowsSealed(pool, SUBJECT_KEY_COLUMN, { by: epoch }))
      if (found) return 'rows that it wrapped have come back, for example from a backup';
    return null;
  }

  private async adoptUnknown(): Promise<void> {
    const { keys } = this.parts;
    const { store } = keys;
    if (!store) return;
    const known = new Set((await this.rows.all()).map(({ epoch }) => epoch));
    const now = await this.rows.now();
    for (const epoch of await store.list()) {
      const startsAt = startOf(epoch);
      if (known.has(epoch) || startsAt === null || startsAt > now - UNKNOWN_AFTER_MS) continue;
      await this.rows.adopt(epoch, startsAt);
    }
  }

  private async resealer(): Promise<Resealer> {
    const { keys } = this.parts;
    const { id, key, fingerprint } = await keys.current();
    return {
      currentKeyId: id,
      open: async (context, bytes) => {
        const { id: sealedBy, sealed } = splitKeyId(bytes);
        return open(await keys.named(sealedBy), context, sealed);
      },
      seal: (context, plaintext) => withKeyId(id, seal(key, context, plaintext)),
      ...(fingerprint && { whileTrue: isOpen(id, fingerprint) }),
    };
  }
}

const isOpen = (epoch: string, fingerprint: Buffer): string =>
  `exists (select from platform.key_epoch where epoch = '${epoch}' and fingerprint = '\\x${fingerprint.toString('hex')}'
   and ends_at > clock_timestamp() and destroyed_at is null)`;

const isToBeEmptied = ({ provider, endsAt, emptiedAt, destroyedAt }: EpochRow, now: number): boolean =>
  provider !== 'environment' &&
  emptiedAt === null &&
  destroyedAt === null &&
  endsAt !== null &&
  endsAt <= now;

/** When to destroy the key of an epoch (ms); `null` when it is destroyed, is not ours to destroy, or has not ended. */
export const dueAtOf = ({ provider, endsAt, destroyedAt }: EpochRow, retentionMs: number): number | null =>
  provider === 'environment' || destroyedAt !== null || endsAt === null ? null : endsAt + retentionMs;

/**
 * How often a worker looks after keys (ms): wraps surviving ones again, destroys due ones, deletes those without a reading
 * and erases old test readings. A tenth of an epoch at most, since keys of an epoch that ended must move to the next.
 */
export const upkeepEveryMs = ({ KEY_EPOCH_MS }: Pick<Config, 'KEY_EPOCH_MS'>): number =>
  Math.min(60_000, KEY_EPOCH_MS / 10);

/** Between announcing the destruction of a key and destroying it, so that an operator can stop a mistake (ms): a day. */
const DESTROY_NOTICE_MS = 86_400_000;

export const upkeepSettings = ({ KEY_RETENTION_MS }: Pick<Config, 'KEY_RETENTION_MS'>): UpkeepSettings => ({
  retentionMs: KEY_RETENTION_MS,
  noticeMs: DESTROY_NOTICE_MS,
});

export interface EpochStatus {
  readonly epoch: string;
  readonly provider: Provider;
  /**
   * `current` wraps. `ended` opens until `destroyAt`. `due`: the next rounds destroy its key; with the provider
   * `environment`, the operator removes it from ENCRYPTION_KEYS. `overdue`: that should have happened, or its key still
   * wraps rows long after its end. `destroyed` opens nothing.
   */
  readonly state: 'current' | 'ended' | 'due' | 'overdue' | 'destroyed';
  readonly startedAt: string;
  readonly endsAt: string | null;
  /** Number of reading keys that it wraps. */
  readonly rows: number;
  /**
   * When its key is destroyed, or may be removed from ENCRYPTION_KEYS. From then on, no data erased in it can be read.
   */
  readonly destroyAt: string | null;
  readonly destroyedAt: string | null;
}

/** Upkeep runs every minute: work that it has not done after this time is stuck. */
const OVERDUE_AFTER_MS = 3_600_000;
/** Rewrapping the keys of all surviving readings may take a while. */
const REWRAPPED_WITHIN_MS = 86_400_000;

interface Bounds extends UpkeepSettings {
  readonly ringIds: readonly string[];
}

export const boundsOf = (config: Config): Bounds => ({
  ...upkeepSettings(config),
  ringIds: config.ENCRYPTION_KEYS.map(({ id }) => id),
});

/** The status of each epoch, oldest first. */
export const epochStatus = async (pool: Pool, bounds: Bounds): Promise<readonly EpochStatus[]> => {
  const counts = await countByKey(pool, SUBJECT_KEY_COLUMN);
  return statuses(pool, bounds, ({ epoch }) => counts.get(epoch) ?? 0);
};

/** The same for a number of rows that the caller knows. */
export const statuses = async (pool: Pool, bounds: Bounds, rowsOf: (row: EpochRow) => number) => {
  const rows = new EpochRows(pool);
  const [now, known] = [await rows.now(), await rows.all()];
  return known.map((row) => statusOf(row, rowsOf(row), now, bounds));
};

const statusOf = (
  row: EpochRow,
  count: number,
  now: number,
  { retentionMs, noticeMs, ringIds }: Bounds,
): EpochStatus => {
  const isRing = row.provider === 'environment';
  // The operator has destroyed a former key that is no longer configured.
  const destroyedAt =
    isRing && !ringIds.includes(row.epoch) ? (row.destroyedAt ?? row.endsAt) : row.destroyedAt;
  const destroyAt = isRing
    ? row.endsAt === null
      ? null
      : row.endsAt + retentionMs
    : dueAtOf(row, retentionMs);
  const state = (): EpochStatus['state'] => {
    if (destroyedAt !== null) return 'destroyed';
    if (row.endsAt === null || row.endsAt > now || destroyAt === null) return 'current';
    // Allows for a late announcement, for example after all workers were down.
    const late = Math.max(destroyAt, (row.announcedAt ?? now) + noticeMs) + OVERDUE_AFTER_MS;
    if (now > late || (count > 0 && !isRing && now > row.endsAt + REWRAPPED_WITHIN_MS)) return 'overdue';
    return now > destroyAt ? 'due' : 'ended';
  };
  return {
    epoch: row.epoch,
    provider: row.provider,
    state: state(),
    startedAt: at(row.startedAt),
    endsAt: row.endsAt === null ? null : at(row.endsAt),
    rows: count,
    destroyAt: destroyAt === null || destroyedAt !== null ? null : at(destroyAt),
    destroyedAt: destroyedAt === null ? null : at(destroyedAt),
  };
};

const at = (milliseconds: number): string => new Date(milliseconds).toISOString();
