import type { Pool, QueryResultRow } from 'pg';
import type { Logger } from 'pino';
import { repeatedWork } from '../work/repeated-work.js';
import type { WorkLoop } from '../work/work-registry.js';
import { addJob, type JobKind, type JobOptions, type JobPayload } from './job.js';

const EVERY_MS = 5_000;
const AT_A_TIME = 200;

/** Jobs that may have been lost, and how to add them again. */
export interface OverdueJobs<Payload extends JobPayload, Row extends QueryResultRow> {
  readonly kind: JobKind<Payload>;
  /** SQL that finds overdue steps, longest overdue first, at most $1 rows. */
  readonly overdue: string;
  /** The key keeps the job unique, even if several workers add it. */
  readonly jobOf: (row: Row) => Pick<JobOptions, 'priority' | 'turn'> & {
    readonly payload: Payload;
    readonly key: string;
  };
}

/**
 * SQL condition: no job with this key waits in the queue for its turn, or for a time that it was added for. Such a job is
 * not lost, and adding it again would lose its place. One that waits after a failure may be brought forward, and is
 * given a turn where jobs take turns.
 * @param key SQL expression
 */
export const isNotQueued = (key: string): string => `not exists (
  select from graphile_worker._private_jobs as queued
  where queued.key = ${key} and queued.is_available
    and (queued.attempts = 0 or queued.run_at between now() - interval '1 minute' and now()))`;

/**
 * SQL condition: no worker has taken a job with this key within this time. One that takes longer was killed, or does not
 * finish; a second one beside it would only take its place in the worker too.
 * @param key SQL expression
 * @param within an interval of PostgreSQL
 */
export const isNotRunning = (key: string, within: string): string => `not exists (
  select from graphile_worker._private_jobs as running
  where running.key = ${key} and running.locked_at > now() - interval '${within}')`;

/**
 * Adds jobs again whose step is overdue, because the worker that had locked the job was killed or its lease expired.
 * Several workers may run it at once.
 */
export const rescueOverdue = <Payload extends JobPayload, Row extends QueryResultRow>(
  pool: Pool,
  jobs: OverdueJobs<Payload, Row>,
  log: Pick<Logger, 'warn'>,
): WorkLoop => repeatedWork(`${jobs.kind.task}.rescue`, EVERY_MS, () => addAgain(pool, jobs), log);

const addAgain = async <Payload extends JobPayload, Row extends QueryResultRow>(
  pool: Pool,
  { kind, overdue, jobOf }: OverdueJobs<Payload, Row>,
): Promise<void> => {
  const { rows } = await pool.query<Row>(overdue, [AT_A_TIME]);
  for (const row of rows) {
    const { payload, ...options } = jobOf(row);
    const { text, values } = addJob(kind, payload, options);
    await pool.query(text, values as unknown[]);
  }
};
