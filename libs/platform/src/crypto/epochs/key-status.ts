import type { Pool } from 'pg';
import { countByKey } from '../rewrapping.js';
import { SUBJECT_KEY_COLUMN } from '../subject-keys.js';
import type { EpochRow, Provider } from './epoch-rows.js';
import { EpochRows } from './epoch-rows.js';
import { dueAtOf } from './key-upkeep.js';

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
export const OVERDUE_AFTER_MS = 3_600_000;
/** Rewrapping the keys of all surviving readings may take a while. */
const REWRAPPED_WITHIN_MS = 86_400_000;

interface Bounds {
  readonly retentionMs: number;
  readonly noticeMs: number;
  readonly ringIds: readonly string[];
}

/** The status of each epoch, oldest first. */
export const epochStatus = async (pool: Pool, bounds: Bounds): Promise<readonly EpochStatus[]> => {
  const rows = new EpochRows(pool);
  const [now, known, counts] = [
    await rows.now(),
    await rows.all(),
    await countByKey(pool, SUBJECT_KEY_COLUMN),
  ];
  return known.map((row) => statusOf(row, counts.get(row.epoch) ?? 0, now, bounds));
};

/** Epochs whose keys should be destroyed, or whose rows should be rewrapped. Does not scan rows. */
export const overdueEpochs = async (pool: Pool, bounds: Bounds): Promise<number> => {
  const rows = new EpochRows(pool);
  const [now, known] = [await rows.now(), await rows.all()];
  return known
    .map((row) => statusOf(row, row.emptiedAt === null ? 1 : 0, now, bounds))
    .filter(({ state }) => state === 'overdue').length;
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
