import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { repeatedWork } from '../work/repeated-work.js';
import type { WorkLoop } from '../work/work-registry.js';
import { addJob, type JobKind } from './job.js';
import { readingJobKey, type ReadingJob } from './reading-job.js';

const EVERY_MS = 5_000;
const AT_A_TIME = 200;

/**
 * Adds a job again for readings whose step is overdue: the worker that had locked it was killed, or its lease ran out.
 * Several workers may do so at once: the job's key keeps it single, and the stream lets only one attempt through.
 * @param overdue SQL that yields `reading_id, workspace_id, correlation_id`, the longest overdue first, at most $1 rows
 */
export const rescueOverdue = (
  pool: Pool,
  { kind, overdue }: { kind: JobKind<ReadingJob>; overdue: string },
  log: Pick<Logger, 'warn'>,
): WorkLoop => repeatedWork(`${kind.task}.rescue`, EVERY_MS, () => addAgain(pool, kind, overdue), log);

const addAgain = async (pool: Pool, kind: JobKind<ReadingJob>, overdue: string): Promise<void> => {
  const { rows } = await pool.query<{ reading_id: string; workspace_id: string; correlation_id: string }>(
    overdue,
    [AT_A_TIME],
  );
  for (const { reading_id: readingId, workspace_id: workspaceId, correlation_id: correlationId } of rows) {
    const payload = { readingId, workspaceId, correlationId, causationId: readingId };
    const { text, values } = addJob(kind, payload, { key: readingJobKey(kind, readingId) });
    await pool.query(text, values as unknown[]);
  }
};
