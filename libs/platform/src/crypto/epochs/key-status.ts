import type { Pool } from 'pg';
import type { Config } from '../../config/settings.js';
import { countByKey } from '../rewrapping.js';
import { SUBJECT_KEY_COLUMN } from '../subject-keys.js';
import { EpochRows, type EpochRow, type Provider } from './epoch-rows.js';
import { dueAtOf, upkeepSettings } from './key-upkeep.js';

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

interface Bounds {
  readonly retentionMs: number;
  readonly noticeMs: number;
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
