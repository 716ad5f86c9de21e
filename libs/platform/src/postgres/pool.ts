import pg from 'pg';

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
    /** Longest wait for the answer to one query (ms); without it, a frozen server would block callers forever. */
    queryTimeoutMs?: number;
    /** Session settings, as `-c name=value`. */
    sessionSettings?: string;
  },
): pg.Pool => {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.size,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 30_000,
    application_name: options.applicationName,
    ...(options.sessionSettings === undefined ? {} : { options: options.sessionSettings }),
    ...(options.queryTimeoutMs === undefined ? {} : { query_timeout: options.queryTimeoutMs }),
  });
  pool.on('error', options.onError);
  // The pool listens only to idle connections. One that breaks in use would raise an uncaught error event, in addition
  // to the rejected query that its user handles.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
};

export { transaction } from '@app/event-sourcing/projections/transaction.js';
