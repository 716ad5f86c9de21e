import pg from 'pg';
import { OTHER_INSTALLATION, READ_ONLY, TOO_OLD } from '../fault/fault.js';

export const POSTGRES = Symbol('Postgres');

/** The process's connection pool. It replaces broken connections, idle or in use; they never end the process. */
export const openPool = (
  url: string,
  options: {
    size: number;
    onError: (error: Error) => void;
    applicationName: string;
    /** Longest wait for a connection, in the queue or from the server (ms). Default 30 s, where no caller waits. */
    connectTimeoutMs?: number;
    /**
     * Longest wait for the answer to one query (ms); without it, a frozen server would block callers forever. A lock is
     * waited for a little less long.
     */
    queryTimeoutMs?: number;
    /** Refuses sessions on the database of another installation, as {@link refuseOtherInstallation} does. */
    installation?: { readonly name: string; readonly isNoted: boolean };
    /** Session settings, as `-c name=value`. */
    sessionSettings?: string;
  },
): pg.Pool => {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.size,
    idleTimeoutMillis: IDLE_MS,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 30_000,
    application_name: options.applicationName,
    ...(options.sessionSettings === undefined ? {} : { options: options.sessionSettings }),
    ...(options.queryTimeoutMs === undefined
      ? {}
      : {
          query_timeout: options.queryTimeoutMs,
          onConnect: prepareSession(options.queryTimeoutMs, options.installation),
        }),
  });
  pool.on('error', options.onError);
  // The pool listens only to idle connections. One that breaks in use would raise an uncaught error event, in addition
  // to the rejected query that its user handles.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
};

/**
 * How long a connection may idle (ms). Loops look every 1 to 15 s, many at the same moment: with the default of 10 s, an
 * idle worker made a new connection every seven seconds. One that stays longer may be stale after a silent fail-over.
 */
const IDLE_MS = 30_000;

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

const REFUSE_STANDBY = `if pg_is_in_recovery() then
  raise exception 'it is a standby' using errcode = '${READ_ONLY}';
end if;`;

/** How often PostgreSQL looks, while a statement runs, whether the client is still there (ms). */
const LOOK_FOR_CLIENT_MS = 1_000;

/**
 * A client that gives up a query closes its connection. PostgreSQL does not notice while the query waits for a lock, so
 * each retry would leave another session, until none are left. Therefore the wait for a lock ends before the client
 * gives up (55P03), and PostgreSQL looks for its client meanwhile. Some platforms cannot do the latter.
 *
 * A server that is too old is refused here, because it may be exchanged while the process runs. So is a standby: after a
 * promotion, the address may still lead to the server that was demoted, and its rows are of the past. A server cannot
 * become a standby without ending its sessions. And so is the database of another installation.
 */
const prepareSession =
  (queryTimeoutMs: number, installation?: { readonly name: string; readonly isNoted: boolean }) =>
  /** The pool waits for the result, although its types do not say so. */
  (client: pg.ClientBase): unknown =>
    client.query(`do $$ begin
      ${REFUSE_OLD_SERVER}
      ${REFUSE_STANDBY}
      ${installation === undefined ? '' : refuseOtherInstallation(installation.name, installation.isNoted)}
      perform set_config('lock_timeout', '${Math.ceil(0.8 * queryTimeoutMs)}', false);
      begin
        perform set_config('client_connection_check_interval', '${LOOK_FOR_CLIENT_MS}', false);
      exception when others then null;
      end;
    end $$`);

/**
 * PL/pgSQL that refuses a database which was used with another `DIGEST_KEY`: ids of readings would differ, and customers
 * would pay twice for a repeated request. Before the migration that adds the table, it refuses nothing.
 *
 * @param installation as `installationOf` gives it
 * @param isNoted whether an unused database becomes this installation's
 */
export const refuseOtherInstallation = (installation: string, isNoted: boolean): string => {
  if (!/^[0-9a-f]{32}$/.test(installation)) throw new Error(`${installation} names no installation`);
  const note = `insert into platform.installation (fingerprint)
      select '${installation}' where not exists (select from platform.installation) on conflict do nothing;`;
  return `if to_regclass('platform.installation') is not null then
      ${isNoted ? note : ''}
      if exists (select from platform.installation where fingerprint <> '${installation}') then
        raise exception 'its installation has another one' using errcode = '${OTHER_INSTALLATION}';
      end if;
    end if;`;
};

export { transaction } from '#event-sourcing/projections/checkpoint.js';
