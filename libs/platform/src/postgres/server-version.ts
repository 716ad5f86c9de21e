import { TOO_OLD } from '../fault/fault.js';

/**
 * The oldest PostgreSQL that can work, as `server_version_num`. Locks of frozen processes end by `idle_session_timeout`
 * (14), and PostgreSQL looks for lost clients (`client_connection_check_interval`, 14). Nobody tests 14 any more.
 */
export const POSTGRES_LEAST = 150_000;
/** The oldest that is tested. */
export const POSTGRES_TESTED = 180_000;

/** PL/pgSQL that refuses an older server, with an SQLSTATE of its own. */
export const REFUSE_OLD_SERVER = `if current_setting('server_version_num')::int < ${POSTGRES_LEAST} then
  raise exception 'PostgreSQL % is older than ${POSTGRES_LEAST / 10_000}', current_setting('server_version')
    using errcode = '${TOO_OLD}';
end if;`;
