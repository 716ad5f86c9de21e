import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { WorkLoop } from '@app/platform/work/work-registry.js';
import { addJob } from '@app/platform/jobs/jobs.js';
import { GENERATE_READING } from './generation.process.js';

const EVERY_MS = 5_000;
const AT_A_TIME = 200;

/**
 * Rings the doorbell again for readings that should have moved on: their job was locked by a worker that was killed,
 * or their lease ran out. Several workers may do it at once; the stream lets only one attempt through.
 */
export const rescueLoop = (pool: Pool): WorkLoop => ({
  name: 'readings.rescue',
  async run(signal) {
    while (!signal.aborted) {
      await delay(EVERY_MS, undefined, { signal }).catch(() => undefined);
      if (!signal.aborted) await rescue(pool).catch(() => undefined);
    }
  },
});

const rescue = async (pool: Pool): Promise<void> => {
  const { rows } = await pool.query<{ reading_id: string; workspace_id: string; correlation_id: string }>(
    `select reading_id, workspace_id, correlation_id from readings.reading
     where due_at < now() order by due_at limit $1`,
    [AT_A_TIME],
  );
  for (const row of rows) {
    const { text, values } = addJob({
      task: GENERATE_READING,
      key: `${GENERATE_READING}:${row.reading_id}`,
      payload: {
        readingId: row.reading_id,
        workspaceId: row.workspace_id,
        correlationId: row.correlation_id,
        causationId: row.reading_id,
      },
    });
    await pool.query(text, values as unknown[]);
  }
};
