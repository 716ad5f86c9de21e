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

/** Jobs that make no progress. */
export const stuckJobs = async (pool: Pick<Pool, 'query'>): Promise<StuckJobs> => {
  const { rows } = await pool.query<StuckJobs>(
    `select count(*) filter (where attempts >= max_attempts)::int as dead,
            count(*) filter (where attempts >= $1 and attempts < max_attempts)::int as failing,
            count(*) filter (where attempts < max_attempts and locked_at is null
              and run_at < now() - make_interval(secs => $2))::int as overdue
     from graphile_worker.jobs`,
    [SOME_FAILURES, OVERDUE_SECONDS],
  );
  return rows[0]!;
};
