import { setTimeout as sleep } from 'node:timers/promises';
import type { DataFolder } from './data-folder.js';
import { LogFile } from './log-file.js';
import { databaseAccount, databaseHome, socketFolder } from './postgres/account.js';
import { databaseUrls, prepareEmbeddedDatabase, type DatabaseUrls } from './postgres/database.js';
import { ensureCluster, findBinaries, launchServer, releaseCluster } from './postgres/server.js';
import type { ProcessRecord } from './processes.js';
import { Supervisor, type SupervisorEvents } from './supervisor.js';

const START_ATTEMPTS = 3;
const BETWEEN_ATTEMPTS_MS = 500;

export interface Postgres {
  readonly supervisor: Supervisor<void>;
  readonly urls: DatabaseUrls;
}

/**
 * @param adopt receives the supervisor before the server runs, so that a stop can interrupt the start
 * @param prepare brings roles and schema to this version; a restore loads a backup meanwhile
 */
export const startPostgres = async (
  folder: DataFolder,
  password: string,
  record: ProcessRecord,
  events: SupervisorEvents,
  adopt: (supervisor: Supervisor<void>) => void,
  prepare: (urls: DatabaseUrls) => Promise<void> = prepareEmbeddedDatabase,
): Promise<Postgres> => {
  const account = databaseAccount();
  const home = databaseHome(folder.postgres, account);
  const binaries = findBinaries(home, account);
  const cluster = await ensureCluster(home, binaries, account, password);
  await releaseCluster(cluster);

  const log = new LogFile(folder.logs, 'postgres');
  const sockets = socketFolder(home, account);
  const supervisor = new Supervisor(
    {
      name: 'postgres',
      log,
      stopSignal: 'SIGINT',
      launch: () => launchServer({ cluster, binaries, account, sockets, log, record }),
    },
    events,
  );
  adopt(supervisor);
  // The system frees the shared memory of a killed server with a short delay.
  for (let attempt = 1; ; attempt++) {
    try {
      await supervisor.start();
      break;
    } catch (error) {
      if (attempt === START_ATTEMPTS) throw error;
      await sleep(BETWEEN_ATTEMPTS_MS);
    }
  }
  const urls = databaseUrls(sockets, password);
  await prepare(urls);
  return { supervisor, urls };
};
