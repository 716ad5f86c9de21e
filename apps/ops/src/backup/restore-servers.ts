import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { installationOf } from '#platform/crypto/installation.js';
import { migrate, migrateTo } from '#platform/postgres/migrate.js';
import type { Config } from '../../../service/src/settings.js';
import { MODULES } from '../../../service/src/modules.js';
import { OpsError } from '../ops-error.js';
import { withProgress } from '../progress.js';
import { appliedCounts } from './embedded-folder.js';
import { requireEmpty, restoreNode, type NodeFolders } from './event-store-files.js';
import { erasedInDatabase } from './erased-in-database.js';
import type { ErasedReading } from './erased-reading.js';
import { mergedReadings, recordErased, restoreKeys } from './keys-mirror.js';
import { refusalOf, requireNone } from './obstacles.js';
import { dropSchemas, filledTables, loadTables, serviceSessions } from './load-tables.js';
import type { Manifest } from './manifest.js';

export interface ServersPlan {
  readonly config: Config;
  /** Of the stopped node; for a backup with files. */
  readonly node: NodeFolders | null;
  /** For a backup that a command took. */
  readonly command: string | null;
  /** The mirror of keys; `null` when the keys are where the service looks for them. */
  readonly keys: string | null;
  /** The mirror that lists erased readings, or will. */
  readonly list: { readonly folder: string; readonly erased: readonly ErasedReading[] };
  readonly replace: boolean;
}

/** What keeps a restore from these servers, a sentence each: what is missing, runs, or would be overwritten. */
export const serverObstacles = async (
  { config, node, command, keys, replace }: ServersPlan,
  { eventStore, installation }: Manifest,
): Promise<readonly string[]> => {
  const found: string[] = [];
  if (installation !== installationOf(config))
    found.push('The backup belongs to another installation: its DIGEST_KEY is not the one of these servers.');
  if (eventStore.kind === 'files' && !node)
    found.push('Name the data folder of the stopped EventStoreDB node: --event-store-data.');
  if (eventStore.kind === 'command' && command === null)
    found.push('A command took the log: name the one that restores it with --event-store-command.');
  if (node) found.push(...refusalOf(() => requireEmpty(node.db, node.index)));
  const { KEY_DIRECTORY } = config;
  if (keys !== null && KEY_DIRECTORY && existsSync(KEY_DIRECTORY) && readdirSync(KEY_DIRECTORY).length > 0)
    found.push(
      `${KEY_DIRECTORY} has keys: add --without-keys to use them, or move them away to restore the mirror.`,
    );
  const url = ownerUrl(config);
  const sessions = await serviceSessions(url, applicationOf(config));
  if (sessions > 0) found.push(`Stop API and workers first: they have ${sessions} sessions on the database.`);
  const [filled] = replace ? [] : await filledTables(url);
  if (filled !== undefined)
    found.push(`The database has data (${filled}): add --replace to delete it and load the backup.`);
  return found;
};

/** The role of API and worker. */
const applicationOf = ({ DATABASE_URL }: Config): string =>
  decodeURIComponent(new URL(DATABASE_URL).username);

const ownerUrl = ({ DATABASE_OWNER_URL, DATABASE_URL }: Config): string => DATABASE_OWNER_URL ?? DATABASE_URL;

export interface RestoredServers {
  /** How many keys of erased readings were kept out. */
  readonly keptOut: number;
  /** Every reading that is known to be erased. */
  readonly erased: readonly ErasedReading[];
  /** Whether the replaced database was newer than the backup, and so knew the erasures after it. */
  readonly isReplacedNewer: boolean;
}

/**
 * Restores keys, then PostgreSQL, then the event store. Until the tables are loaded, the application's role has no
 * rights on them; until the log is there, consumers do not start. So no process can act on half a restore.
 * What the replaced database knows of erasures is listed before it is dropped, so that a repeated restore knows it too.
 */
export const restoreServers = async (
  backup: string,
  manifest: Manifest,
  plan: ServersPlan,
): Promise<RestoredServers> => {
  requireNone(await serverObstacles(plan, manifest));
  const { config, node, command, keys, list } = plan;
  const url = ownerUrl(config);
  const replaced = await erasedInDatabase(url, manifest);
  const erased = mergedReadings(list.erased, replaced.erased);
  recordErased(list.folder, manifest.installation, erased, manifest.postgres.takenAt);
  if (keys !== null && config.KEY_DIRECTORY)
    restoreKeys(keys, { keyDirectory: resolve(config.KEY_DIRECTORY), secretsFile: null });
  await dropSchemas(url);
  await migrateTo(url, MODULES, appliedCounts(manifest));
  const keptOut = await withProgress('PostgreSQL', (progress) =>
    loadTables(url, backup, manifest, progress ?? (() => undefined), erased),
  );
  if (node) restoreNode(node, backup);
  if (command !== null) run(command, join(backup, 'event-store'));
  await migrate(url, MODULES, config.DATABASE_OWNER_URL === undefined ? undefined : applicationOf(config));
  return { keptOut, erased, isReplacedNewer: replaced.isNewer };
};

const run = (command: string, folder: string): void => {
  const { status, signal } = spawnSync('/bin/sh', ['-c', command], {
    stdio: ['ignore', 2, 2],
    env: { ...process.env, BACKUP_DIR: folder },
  });
  if (status !== 0)
    throw new OpsError(
      `The command for the event store failed (${signal ?? `exit code ${status}`}). PostgreSQL is restored: repeat the command by hand, then run ops migrate.`,
    );
};
