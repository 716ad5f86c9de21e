import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import { scrapedGauges } from '../telemetry/scraped-gauges.js';

export interface StuckJobs {
  /** Jobs without attempts left. */
  readonly dead: number;
  /** Jobs that failed several times and will be retried. */
  readonly failing: number;
  /** How long the oldest job that no worker has taken has been due (seconds). */
  readonly oldest: number;
}

const SOME_FAILURES = 3;

/**
 * Jobs that make no progress. One without a key has a successor, because all our jobs have keys: its worker was killed, or
 * it failed after another was added. That one counts.
 */
export const stuckJobs = async (pool: Pick<Pool, 'query'>): Promise<StuckJobs> => {
  const { rows } = await pool.query<StuckJobs>(
    `select count(*) filter (where attempts >= max_attempts)::int as dead,
            count(*) filter (where attempts >= $1 and attempts < max_attempts)::int as failing,
            greatest(0, extract(epoch from now() - min(greatest(run_at, created_at))
              filter (where attempts < max_attempts and locked_at is null)))::int as oldest
     from graphile_worker.jobs where key is not null`,
    [SOME_FAILURES],
  );
  return rows[0]!;
};

/**
 * Deletes jobs that another has replaced while they were locked, or that were removed then: graphile-worker keeps what its
 * worker neither completes nor fails. No attempt at a job takes as long as an hour.
 * @returns how many
 */
export const forgetReplacedJobs = async (pool: Pick<Pool, 'query'>): Promise<number> => {
  const { rowCount } = await pool.query(
    `delete from graphile_worker._private_jobs
     where key is null and attempts >= max_attempts
       and (locked_at is null or locked_at < now() - interval '1 hour')`,
  );
  return rowCount ?? 0;
};

/**
 * Due jobs that no worker has taken. Excludes jobs with a later time, such as timers. The `run_at` of a turn may be before
 * the job was added.
 */
const DUE = `
  select task_identifier as task, count(*)::integer as due,
         extract(epoch from now() - min(greatest(run_at, created_at)))::float8 as oldest_seconds
  from graphile_worker.jobs
  where run_at <= now() and locked_at is null and attempts < max_attempts
  group by task_identifier`;

/** Metrics of the job queue. Every worker reports the same values: read one, or take the maximum. */
export const measureJobs = (pool: Pool, tasks: readonly string[], registry: Registry): void =>
  scrapedGauges(
    registry,
    'jobs',
    {
      jobs_due: { help: 'Due jobs that no worker has taken', labelNames: ['task'] },
      jobs_oldest_due_seconds: { help: 'How long the oldest due job has waited', labelNames: ['task'] },
    },
    async () => {
      const { rows } = await pool.query<{ task: string; due: number; oldest_seconds: number }>(DUE);
      const of = (field: 'due' | 'oldest_seconds') =>
        tasks.map((task) => ({
          labels: { task },
          value: Math.max(0, rows.find((row) => row.task === task)?.[field] ?? 0),
        }));
      return { jobs_due: of('due'), jobs_oldest_due_seconds: of('oldest_seconds') };
    },
  );
