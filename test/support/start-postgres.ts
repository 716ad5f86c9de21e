import { openDataFolder } from '../../apps/embedded/src/data-folder.js';
import { startPostgres as start } from '../../apps/embedded/src/postgres.js';
import { ProcessRecord } from '../../apps/embedded/src/process-record.js';
import { loadSecrets } from '../../apps/embedded/src/secrets.js';
import { removeDataFolder, temporaryDataDir } from './data-dir.js';

const STOP_WITHIN_MS = 5_000;

export interface StartedPostgres {
  readonly databaseUrl: string;
  /** Stops the server and deletes its data. */
  stop(): Promise<void>;
}

/** An empty PostgreSQL with every module's schema, for tests of queries and projections. It ends with this process. */
export const startPostgres = async (): Promise<StartedPostgres> => {
  const folder = openDataFolder(temporaryDataDir());
  const { POSTGRES_PASSWORD } = loadSecrets(folder);
  const events = { say: () => undefined, onRestart: () => undefined, onGivenUp: () => undefined };
  const { supervisor, url } = await start(
    folder,
    POSTGRES_PASSWORD,
    new ProcessRecord(folder.processes),
    events,
    () => undefined,
  );
  return {
    databaseUrl: url,
    stop: async () => {
      await supervisor.stop(STOP_WITHIN_MS);
      removeDataFolder(folder.path);
    },
  };
};
