import type { Pool } from 'pg';

export interface StuckJobs {
  /** Failed as often as they may. */
  readonly dead: number;
  /** Failed some times, and to be tried again. */
  readonly failing: number;
  /** Due for five minutes, and nobody has taken them. */
  readonly overdue: number;
}

const SOME_FAILURES = 3;
const OVERDUE_SECONDS = 300;

/** Jobs that do not get done. */
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
