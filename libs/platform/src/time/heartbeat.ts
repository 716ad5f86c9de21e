import { hostname } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { WORKER_ROLES, type WorkerRole } from '../config/settings.js';
import type { WorkLoop } from '../work/work-registry.js';
import type { TrustedTime } from './trusted-time.js';

const EVERY_MS = 2_000;

/**
 * Reports that this process is alive and reaches both stores, and how far its clock is ahead of PostgreSQL's. All
 * instants are PostgreSQL's. The API's readiness check and the other processes' comparisons of clocks read it.
 * @param roles of a worker
 */
export const heartbeat = (
  role: 'api' | 'worker',
  { pool, store, time }: { pool: Pool; store: EventStore; time: TrustedTime },
  roles: readonly WorkerRole[] | null = null,
): WorkLoop => {
  const { instance } = time;
  const beat = async (): Promise<void> => {
    await store.head();
    await pool.query({
      name: 'heartbeat',
      text: `insert into platform.heartbeat (instance, role, host, ahead_ms, roles, beat_at)
             values ($1, $2, $3, $4, $5, clock_timestamp())
             on conflict (instance) do update set ahead_ms = excluded.ahead_ms, beat_at = excluded.beat_at`,
      values: [instance, role, hostname(), time.aheadOfPostgres, roles],
    });
    await pool.query(`delete from platform.heartbeat where beat_at < clock_timestamp() - interval '1 hour'`);
  };
  return {
    name: 'heartbeat',
    async run(signal) {
      while (!signal.aborted) {
        // The missing heartbeat itself is the signal.
        await beat().catch(() => undefined);
        await delay(EVERY_MS, undefined, { signal }).catch(() => undefined);
      }
      await pool
        .query('delete from platform.heartbeat where instance = $1', [instance])
        .catch(() => undefined);
    },
  };
};

/** A worker counts as absent after this time without a heartbeat (ms). */
export const ABSENT_AFTER_MS = 10_000;

/** The roles that no worker has had for {@link ABSENT_AFTER_MS}; all of them when there was no worker. */
export const missingRoles = async (pool: Pick<Pool, 'query'>): Promise<readonly WorkerRole[]> => {
  const { rows } = await pool.query<{ missing: WorkerRole }>(
    `select missing from unnest($1::text[]) missing
     where not exists (select from platform.heartbeat
       where role = 'worker' and (roles is null or missing = any (roles))
         and beat_at > clock_timestamp() - make_interval(secs => $2))`,
    [WORKER_ROLES, ABSENT_AFTER_MS / 1_000],
  );
  return rows.map(({ missing }) => missing);
};
