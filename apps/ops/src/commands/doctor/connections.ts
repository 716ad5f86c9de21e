import type { Pool } from 'pg';
import { ADVICE } from '@app/platform/fault/fault.js';
import type { Config } from '../../../../service/src/settings.js';
import { ok, warning, type Finding } from './finding.js';

const CHECK = 'connections';
/** What a process has beside its pool: the connection on which it listens. */
const LISTENING = 1;
/** Share of the limit above which other clients of the server leave too little. */
const FULL = 0.9;

interface Facts {
  readonly most: number;
  readonly open: number;
  readonly processes: number;
}

/**
 * Whether PostgreSQL takes as many connections as the running processes may open, before one of them is refused. The limit is
 * the server's, the database's or the role's, whichever is lowest. Other processes may have another DATABASE_POOL_SIZE.
 */
export const checkConnections = async (
  pool: Pick<Pool, 'query'>,
  { DATABASE_POOL_SIZE, READINESS_WORKER_MS }: Pick<Config, 'DATABASE_POOL_SIZE' | 'READINESS_WORKER_MS'>,
): Promise<Finding> => {
  const { rows } = await pool.query<Facts>(
    `select least(current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
                    - coalesce(current_setting('reserved_connections', true)::int, 0),
                  (select nullif(datconnlimit, -1) from pg_database where datname = current_database()),
                  (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user)) as most,
            (select sum(numbackends)::int from pg_stat_database) as open,
            (select count(*)::int from platform.heartbeat
             where beat_at > clock_timestamp() - make_interval(secs => $1)) as processes`,
    [READINESS_WORKER_MS / 1_000],
  );
  const { most, open, processes } = rows[0]!;
  const wanted = processes * (DATABASE_POOL_SIZE + LISTENING);
  const message = `PostgreSQL takes ${most}, ${open} are open, and ${processes} processes may open ${wanted}`;
  return wanted > most || open > FULL * most
    ? warning(CHECK, message, ADVICE.overloaded)
    : ok(CHECK, message);
};
