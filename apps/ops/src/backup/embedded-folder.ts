import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { migrate, migrateTo } from '#platform/postgres/migrate.js';
import { openDataFolder, type DataFolder } from '../../../embedded/src/data-folder.js';
import { startPostgres } from '../../../embedded/src/postgres.js';
import {
  prepareEmbeddedRoles,
  APPLICATION,
  type DatabaseUrls,
} from '../../../embedded/src/postgres/database.js';
import { ProcessRecord } from '../../../embedded/src/process-record.js';
import { loadSecrets } from '../../../embedded/src/secrets.js';
import type { SupervisorEvents } from '../../../embedded/src/supervisor.js';
import { MODULES } from '../../../service/src/modules.js';
import { loadTables } from './load-tables.js';
import type { Manifest } from './manifest.js';

const STOP_WITHIN_MS = 10_000;
const QUIET: SupervisorEvents = {
  say: () => undefined,
  onRestart: () => undefined,
  onGivenUp: () => undefined,
};

/** A data folder whose PostgreSQL runs. */
export interface OpenFolder {
  readonly folder: DataFolder;
  readonly urls: DatabaseUrls;
  readonly record: ProcessRecord;
}

/** Number of applied migrations by library. */
export const appliedCounts = ({ postgres }: Manifest): Record<string, number> =>
  Object.fromEntries(Object.entries(postgres.migrations).map(([library, names]) => [library, names.length]));

/**
 * Builds a data folder of the embedded stack from a backup, and works on it while its PostgreSQL runs.
 * @param path of the folder; it may have secrets and keys already, and new secrets are made otherwise
 * @param loaded called with the database exactly as it was backed up, before newer migrations
 */
export const buildDataFolder = async <T>(
  path: string,
  backup: string,
  manifest: Manifest,
  onTable: (done: number, total: number) => void,
  loaded: (urls: DatabaseUrls) => Promise<void>,
  work: (open: OpenFolder) => Promise<T>,
): Promise<T> => {
  const folder = openDataFolder(path);
  const log = join(backup, 'event-store', 'data');
  // Of servers, the log is restored where EventStoreDB runs.
  if (existsSync(log)) {
    mkdirSync(join(folder.eventStore, 'data'), { recursive: true, mode: 0o700 });
    cpSync(log, join(folder.eventStore, 'data'), { recursive: true });
  }
  const record = new ProcessRecord(folder.processes);
  const stops: ((withinMs: number) => Promise<void>)[] = [];
  try {
    const { urls } = await startPostgres(
      folder,
      loadSecrets(folder).POSTGRES_PASSWORD,
      record,
      QUIET,
      (supervisor) => stops.push((withinMs) => supervisor.stop(withinMs)),
      async (all) => {
        await prepareEmbeddedRoles(all);
        await migrateTo(all.owner, MODULES, appliedCounts(manifest));
        await loadTables(all.owner, backup, manifest, onTable);
        await loaded(all);
        await migrate(all.owner, MODULES, APPLICATION);
      },
    );
    return await work({ folder, urls, record });
  } finally {
    for (const stop of stops) await stop(STOP_WITHIN_MS);
  }
};

export { QUIET, STOP_WITHIN_MS };
