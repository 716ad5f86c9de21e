import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import { openDataFolder } from '../../apps/embedded/src/data-folder.js';
import { ProcessRecord } from '../../apps/embedded/src/processes.js';
import { loadSecrets } from '../../apps/embedded/src/secrets.js';
import { removeDataFolder } from './data-dir.js';
import { preparedDataDir } from './prepared-data-dir.js';

const STOP_WITHIN_MS = 5_000;
const CONNECTIONS_GONE_WITHIN_MS = 2_000;

export interface PostgresUrls {
  /** Connects as the superuser, since tests create tables. */
  readonly databaseUrl: string;
  /** Connects as the role of API and worker. */
  readonly applicationUrl: string;
  /** Connects as the role that owns the schemas. */
  readonly ownerUrl: string;
}

export interface StartedPostgres extends PostgresUrls {
  /** Stops it and deletes its data. */
  stop(): Promise<void>;
}

/** Starts an empty PostgreSQL with every module's schema. It ends with this process. */
export const startPostgres = async (): Promise<StartedPostgres> => {
  // Takes long to load, and few of the specs that load this file need it.
  const { startPostgres: start } = await import('../../apps/embedded/src/postgres.js');
  const folder = openDataFolder(await preparedDataDir());
  const { POSTGRES_PASSWORD } = loadSecrets(folder);
  const events = { say: () => undefined, onRestart: () => undefined, onGivenUp: () => undefined };
  const { supervisor, urls } = await start(
    folder,
    POSTGRES_PASSWORD,
    new ProcessRecord(folder.processes),
    events,
    () => undefined,
  );
  return {
    databaseUrl: urls.admin,
    applicationUrl: urls.application,
    ownerUrl: urls.owner,
    stop: async () => {
      await connectionsGone(urls.admin);
      await supervisor.stop(STOP_WITHIN_MS);
      removeDataFolder(folder.path);
    },
  };
};

/**
 * Waits until all clients of a database are disconnected. `pool.end()` of pg resolves before its sockets are closed. A
 * server that stops at once would still send them "terminating connection", and the unhandled error would fail the test.
 */
export const connectionsGone = async (url: string): Promise<void> => {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const until = Date.now() + CONNECTIONS_GONE_WITHIN_MS;
  while (Date.now() < until) {
    const { rows } = await client.query(
      `select 1 from pg_stat_activity
       where backend_type = 'client backend' and pid <> pg_backend_pid() and datname = current_database() limit 1`,
    );
    if (rows.length === 0) break;
    await sleep(5);
  }
  await client.end();
};
