import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { repeatedWork } from '../work/repeated-work.js';
import type { WorkLoop } from '../work/work-registry.js';
import { addJob } from './jobs.js';

const EVERY_MS = 5_000;
const AT_A_TIME = 200;

/**
 * Adds a job again for readings whose step is overdue: the worker that had locked it was killed, or its lease ran out.
 * Several workers may do so at once: the job's key keeps it single, and the stream lets only one attempt through.
 * @param overdue SQL that yields `reading_id, workspace_id, correlation_id`, the longest overdue first, at most $1 rows
 */
export const rescueOverdue = (
  pool: Pool,
  { task, overdue }: { task: string; overdue: string },
  log: Pick<Logger, 'warn'>,
): WorkLoop => repeatedWork(`${task}.rescue`, EVERY_MS, () => addAgain(pool, task, overdue), log);

const addAgain = async (pool: Pool, task: string, overdue: string): Promise<void> => {
  const { rows } = await pool.query<{ reading_id: string; workspace_id: string; correlation_id: string }>(
    overdue,
    [AT_A_TIME],
  );
  for (const { reading_id: readingId, workspace_id: workspaceId, correlation_id: correlationId } of rows) {
    const { text, values } = addJob({
      task,
      key: `${task}:${readingId}`,
      payload: { readingId, workspaceId, correlationId, causationId: readingId },
    });
    await pool.query(text, values as unknown[]);
  }
};
