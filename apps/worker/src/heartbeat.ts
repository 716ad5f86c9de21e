import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import type { WorkLoop } from '@app/platform/work/work-registry.js';

const EVERY_MS = 2_000;

/** Reports that this worker is alive and reaches both stores. The API's readiness check reads it. */
export const heartbeat = (pool: Pool, store: EventStore): WorkLoop => {
  const instance = randomUUID();
  const beat = async (): Promise<void> => {
    await store.head();
    await pool.query(
      `insert into platform.heartbeat (instance, role) values ($1, 'worker')
       on conflict (instance) do update set beat_at = now()`,
      [instance],
    );
    await pool.query(`delete from platform.heartbeat where beat_at < now() - interval '1 hour'`);
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
