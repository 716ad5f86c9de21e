import type { Pool } from 'pg';

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
