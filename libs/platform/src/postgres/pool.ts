import pg from 'pg';

export const POSTGRES = Symbol('Postgres');

/** The process's connection pool. A connection that breaks, idle or in use, is replaced and never ends the process. */
export const openPool = (
  url: string,
  options: {
    size: number;
    onError: (error: Error) => void;
    applicationName: string;
    /** Longest wait for a connection, in the queue or from the server (ms). */
    connectTimeoutMs?: number;
    /** Longest wait for the answer to one query; without it a server that froze would hold its callers for ever. */
    queryTimeoutMs?: number;
    /** Settings of its sessions, as `-c name=value`. */
    sessionSettings?: string;
  },
): pg.Pool => {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.size,
    connectionTimeoutMillis: options.connectTimeoutMs ?? 2_000,
    application_name: options.applicationName,
    ...(options.sessionSettings === undefined ? {} : { options: options.sessionSettings }),
    ...(options.queryTimeoutMs === undefined ? {} : { query_timeout: options.queryTimeoutMs }),
  });
  pool.on('error', options.onError);
  // The pool listens to idle connections only: one that breaks in use would be an uncaught error event, on top of the
  // rejected query that its user deals with.
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
};

export { transaction } from '@app/event-sourcing/projections/transaction.js';
