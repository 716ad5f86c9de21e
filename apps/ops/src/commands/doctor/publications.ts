import type { Pool } from 'pg';
import type { TrustedTime } from '#platform/time/trusted-time.js';
import { failure, ok, warning, type Finding } from './finding.js';

/** How long after the time at which its job counts as lost a document is late. Seconds. */
const LATE_SECONDS = 600;

/** Documents of completed readings that are not made: nobody else says so, because their jobs are neither lost nor due. */
export const checkPublications = async (
  pool: Pick<Pool, 'query'>,
  time: Pick<TrustedTime, 'isTrusted'>,
): Promise<readonly Finding[]> => {
  // Nothing is published then, and PostgreSQL's clock may be the wrong one: the finding is that of the clock.
  if (!(await time.isTrusted())) return [ok('publications', 'not judged while the clocks differ')];
  return [await findLate(pool), ...(await findGivenUp(pool))];
};

const findLate = async (pool: Pick<Pool, 'query'>): Promise<Finding> => {
  const { rows } = await pool.query<{ late: number; first: string | null }>(
    `select count(*)::int as late, (array_agg(reading_id::text order by due_at))[1] as first
     from (select reading_id, due_at from publishing.publication
           union all select reading_id, due_at from publishing.republication) as due
     where due_at < now() - make_interval(secs => $1)`,
    [LATE_SECONDS],
  );
  const { late, first } = rows[0]!;
  if (first === null) return ok('publications', `none is more than ${LATE_SECONDS / 60} minutes late`);
  return failure(
    'publications',
    `${late} documents are more than ${LATE_SECONDS / 60} minutes late, such as that of reading ${first}`,
    'If the worker’s log says that a document cannot be made, a version of the service that can makes it within an hour. Otherwise see the findings about workers, lag and jobs.',
  );
};

/** Their jobs have ended. Those of erased readings have no key. */
const findGivenUp = async (pool: Pick<Pool, 'query'>): Promise<readonly Finding[]> => {
  const { rows } = await pool.query<{ failed: number; first: string | null }>(
    `select count(*)::int as failed, min(reading_id::text) as first
     from publishing.publication join platform.subject_key on subject_id = reading_id
     where due_at is null and published_at is null`,
  );
  const { failed, first } = rows[0]!;
  return first === null
    ? []
    : [
        warning(
          'publications',
          `${failed} documents were given up, such as that of reading ${first}: each ended three workers`,
          'The worker’s log has more. The credits of live readings come back by themselves; ops readings unreadable shows which did.',
        ),
      ];
};
