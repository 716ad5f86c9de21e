import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { instant, type TrustedClock } from '#event-sourcing/core/clock.js';
import { repeatedWork } from '../work/repeated-work.js';
import type { WorkLoop } from '../work/work-registry.js';
import type { Due, RetentionRun, RetentionStatus } from './retention-status.js';

export const DAY_MS = 86_400_000;
/** How often the workers with the role `upkeep` or `webhooks` make a round (ms). */
const RETENTION_EVERY_MS = 600_000;

/** What of a kind is kept, and what of it is older than its term. */
export interface Held {
  /** When the oldest that is kept happened (ms since the epoch); `null`: nothing is kept. */
  readonly oldest: number | null;
  readonly due: Due;
}

export interface Forgotten {
  /** Rows; about as many, where partitions were dropped. */
  readonly removed: number;
  /** Nothing older is left (ms since the epoch). */
  readonly keptSince: number;
}

/** A kind of data that ends after a term, to look at. Instants are milliseconds since the epoch. */
export interface Kept {
  readonly kind: string;
  readonly what: string;
  /** The setting that holds the term; null: it is constant. */
  readonly setting: string | null;
  readonly days: number;
  /** How many days longer something may stay, because it goes with others. */
  readonly graceDays: number;
  /** How often a round is made (ms). Default: `RETENTION_EVERY_MS`. */
  readonly everyMs?: number;
  held(before: number): Promise<Held>;
}

/** One that a round deletes. */
export interface Retention extends Kept {
  /** Deletes in steps what is older. Any number of processes may do so at once. */
  forget(before: number, signal: AbortSignal): Promise<Forgotten>;
}

/**
 * One round for one kind, or the next part of one.
 * @param now milliseconds since the epoch
 * @returns `null` when it was stopped before its end
 */
export const runRetention = async (
  pool: Pick<Pool, 'query'>,
  retention: Retention,
  now: number,
  signal: AbortSignal,
): Promise<RetentionRun | null> => {
  const { kind, days } = retention;
  const forgotten = await retention.forget(now - days * DAY_MS, signal);
  if (signal.aborted) {
    const text = 'update platform.retention_round set removed = removed + $2 where kind = $1';
    await pool.query(text, [kind, forgotten.removed]);
    return null;
  }
  await recordRound(pool, kind, now, forgotten);
  return { kind, keptSince: instant(forgotten.keptSince), removed: forgotten.removed };
};

/** Records a whole round. @param now milliseconds since the epoch */
export const recordRound = async (
  pool: Pick<Pool, 'query'>,
  kind: string,
  now: number,
  { removed, keptSince }: Forgotten,
): Promise<void> => {
  await pool.query(
    `insert into platform.retention_round as known (kind, ran_at, kept_since, removed) values ($1, $2, $3, $4)
     on conflict (kind) do update set ran_at = greatest(known.ran_at, excluded.ran_at),
       kept_since = greatest(known.kept_since, excluded.kept_since), removed = known.removed + excluded.removed`,
    [kind, instant(now), instant(keptSince), removed],
  );
};

/**
 * A clock that jumped ahead would have everything deleted. So after such a pause of all kinds and processes, workers delete
 * nothing until an operator makes a round (`ops retention run`).
 */
const LONGEST_PAUSE_MS = 7 * DAY_MS;

/**
 * When the last round of any kind was (ms since the epoch), if workers wait for an operator to make the next; otherwise
 * `null`.
 * @param now milliseconds since the epoch
 */
const waitsSince = async (pool: Pick<Pool, 'query'>, now: number): Promise<number | null> => {
  const { rows } = await pool.query<{ at: Date | null }>(
    'select max(ran_at) as at from platform.retention_round',
  );
  const at = rows[0]?.at?.getTime() ?? now;
  return now - at > LONGEST_PAUSE_MS ? at : null;
};

/** Comes before every deletion by a worker. @throws Error while workers wait for an operator */
export const refuseAfterPause = async (pool: Pick<Pool, 'query'>, now: number): Promise<void> => {
  const since = await waitsSince(pool, now);
  if (since === null) return;
  throw new Error(
    `the last round was at ${instant(since)}: nothing is deleted until ops retention run, since the clock may be wrong`,
  );
};

/** How long a kind is worked on before the others get their turns (ms). */
const PART_MS = 60_000;

/**
 * A round for each kind at an interval. A kind that fails does not keep the others from theirs, nor does one with much to
 * delete: it continues after them.
 */
export const retentionLoop = (
  name: string,
  pool: Pool,
  retentions: readonly Retention[],
  clock: TrustedClock,
  log: Pick<Logger, 'warn' | 'info'>,
): WorkLoop =>
  repeatedWork(
    name,
    RETENTION_EVERY_MS,
    async (signal) => {
      const failures: unknown[] = [];
      for (let left = retentions; left.length > 0 && !signal.aborted;) {
        const now = await clock.now();
        await refuseAfterPause(pool, now);
        const unfinished: Retention[] = [];
        for (const retention of left) {
          if (signal.aborted) return;
          const part = AbortSignal.any([signal, AbortSignal.timeout(PART_MS)]);
          await runRetention(pool, retention, now, part).then(
            (run) => {
              if (run === null) unfinished.push(retention);
              else if (run.removed > 0) log.info(run, 'deleted after its term');
            },
            (error: unknown) => failures.push(error),
          );
        }
        left = unfinished;
      }
      if (failures.length > 0) throw failures[0];
    },
    log,
  );

/** @param now milliseconds since the epoch */
export const retentionStatus = async (
  pool: Pick<Pool, 'query'>,
  retention: Kept,
  now: number,
): Promise<RetentionStatus> => {
  const { kind, what, setting, days, graceDays, everyMs = RETENTION_EVERY_MS } = retention;
  const before = now - days * DAY_MS;
  const { oldest, due } = await retention.held(before);
  const { rows } = await pool.query<{ ran_at: Date; kept_since: Date; removed: string }>(
    'select ran_at, kept_since, removed from platform.retention_round where kind = $1',
    [kind],
  );
  const [last] = rows;
  const waits = await waitsSince(pool, now);
  return {
    kind,
    what,
    setting,
    days,
    oldest: oldest === null ? null : instant(oldest),
    due,
    lagDays: oldest === null ? 0 : Math.max(0, Math.floor((before - oldest) / DAY_MS) - graceDays),
    lastRun: last
      ? {
          at: instant(last.ran_at.getTime()),
          keptSince: instant(last.kept_since.getTime()),
          removedInAll: Number(last.removed),
        }
      : null,
    waitsSince: waits === null ? null : instant(waits),
    nextRun: last && waits === null ? instant(last.ran_at.getTime() + everyMs) : null,
  };
};
