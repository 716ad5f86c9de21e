import type { Pool } from 'pg';

export interface StuckJobs {
  /** Jobs without attempts left. */
  readonly dead: number;
  /** Jobs that failed several times and will be retried. */
  readonly failing: number;
  /** Jobs due for five minutes that no worker has taken. */
  readonly overdue: number;
}

const SOME_FAILURES = 3;
const OVERDUE_SECONDS = 300;

/**
 * Jobs that make no progress. One without a key has a successor, because all our jobs have keys: its worker was killed, or
 * it failed after another was added. That one counts.
 */
export const stuckJobs = async (pool: Pick<Pool, 'query'>): Promise<StuckJobs> => {
  const { rows } = await pool.query<StuckJobs>(
    `select count(*) filter (where attempts >= max_attempts)::int as dead,
            count(*) filter (where attempts >= $1 and attempts < max_attempts)::int as failing,
            count(*) filter (where attempts < max_attempts and locked_at is null
              and greatest(run_at, created_at) < now() - make_interval(secs => $2))::int as overdue
     from graphile_worker.jobs where key is not null`,
    [SOME_FAILURES, OVERDUE_SECONDS],
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
