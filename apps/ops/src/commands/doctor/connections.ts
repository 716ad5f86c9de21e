import type { Pool } from 'pg';
import { ABSENT_AFTER_MS } from '#platform/time/heartbeat.js';
import { ADVICE } from '#platform/fault/fault.js';
import type { Config } from '../../../../service/src/settings.js';
import { ok, warning, type Finding } from './finding.js';

const CHECK = 'connections';
/** What a process has beside its pool: the connection on which it listens. */
const LISTENING = 1;
/** Share of the limit above which other clients of the server leave too little. */
const FULL = 0.9;

interface Facts {
  /** What the server takes, of all databases and roles. */
  readonly server: number;
  /** What it takes of this database and role. */
  readonly own: number;
  /** Of all databases and roles. */
  readonly open: number;
  readonly processes: number;
}

/**
 * Whether PostgreSQL takes as many connections as the running processes may open, before one of them is refused. The limit is
 * the server's, the database's or the role's, whichever is lowest. Other processes may have another DATABASE_POOL_SIZE.
 */
export const checkConnections = async (
  pool: Pick<Pool, 'query'>,
  { DATABASE_POOL_SIZE }: Pick<Config, 'DATABASE_POOL_SIZE'>,
): Promise<Finding> => {
  const { rows } = await pool.query<Facts>(
    `select server, least(server, (select nullif(datconnlimit, -1) from pg_database where datname = current_database()),
                          (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user)) as own,
            (select sum(numbackends)::int from pg_stat_database) as open,
            (select count(*)::int from platform.heartbeat
             where beat_at > clock_timestamp() - make_interval(secs => $1)) as processes
     from (select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
                    - coalesce(current_setting('reserved_connections', true)::int, 0) as server) limits`,
    [ABSENT_AFTER_MS / 1_000],
  );
  const { server, own, open, processes } = rows[0]!;
  const wanted = processes * (DATABASE_POOL_SIZE + LISTENING);
  const message = `${open} of ${server} are open; ${processes} processes may open ${wanted} of ${own}`;
  return wanted > own || open > FULL * server
    ? warning(CHECK, message, ADVICE.overloaded)
    : ok(CHECK, message);
};
