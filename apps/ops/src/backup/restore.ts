import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  mkdtempSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { installationOf } from '#platform/crypto/installation.js';
import { migrate, migrateTo } from '#platform/postgres/migrate.js';
import { projectPath } from '#platform/project-path.js';
import {
  type DataFolder,
  isDataFolder,
  openDataFolder,
  removeDataFolder,
  takeLock,
  StackError,
} from '../../../embedded/src/data-folder.js';
import { ProcessRecord, type SupervisorEvents } from '../../../embedded/src/processes.js';
import { loadSecrets } from '../../../embedded/src/secrets.js';
import { MODULES } from '../../../service/src/modules.js';
import type { Config } from '../../../service/src/settings.js';
import { OpsError, withProgress } from '../output.js';
import { type LogContents, type NodeFolders, requireEmpty, restoreNode, runForLog, readLog } from './log.js';
import {
  type ErasedReading,
  isDiskFull,
  type Manifest,
  syncPath,
  damagedFiles,
  type LogFingerprint,
} from './manifest.js';
import { mergedReadings, recordErased, restoreKeys } from './mirror.js';
import {
  appliedCounts,
  dropSchemas,
  erasedInDatabase,
  filledTables,
  loadTables,
  type OnTable,
  serviceSessions,
  differingTables,
} from './tables.js';
import {
  APPLICATION,
  type DatabaseUrls,
  prepareEmbeddedRoles,
  startPostgres,
} from '../../../embedded/src/postgres.js';
import { tmpdir } from 'node:os';
import { withSetAside } from '#event-sourcing/projections/set-aside.js';
import { rebuild, verify, Refused } from '#event-sourcing/projections/rebuild.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { openEventStore } from '#event-sourcing/store/eventstoredb.js';
import { LAST_WORDS } from '#platform/config/event-store-options.js';
import { openPool } from '#platform/postgres/pool.js';
import { startEmbeddedEventStore } from '../../../embedded/src/event-store-process.js';
import { PROJECTIONS } from '../../../service/src/projections.js';
import { programFingerprint } from '../commands/projections.js';

const STOP_WITHIN_MS = 10_000;
const QUIET: SupervisorEvents = {
  say: () => undefined,
  onRestart: () => undefined,
  onGivenUp: () => undefined,
};

type Adopt = (one: { stop(withinMs: number): Promise<void> }) => void;

/** Runs work with processes that it adopts, and stops them after it. */
const withProcesses = async <T>(work: (adopt: Adopt) => Promise<T>): Promise<T> => {
  const adopted: Parameters<Adopt>[0][] = [];
  try {
    return await work((one) => void adopted.push(one));
  } finally {
    for (const one of adopted) await one.stop(STOP_WITHIN_MS);
  }
};

/** A data folder whose PostgreSQL runs. */
interface OpenFolder {
  readonly folder: DataFolder;
  readonly urls: DatabaseUrls;
  readonly record: ProcessRecord;
}

/**
 * Builds a data folder from a backup, and works on it while its PostgreSQL runs.
 * @param path it may have secrets and keys already @param load fills the database before newer migrations
 */
const buildDataFolder = <T>(
  path: string,
  backup: string,
  manifest: Manifest,
  load: (urls: DatabaseUrls) => Promise<unknown>,
  work: (open: OpenFolder) => Promise<T>,
): Promise<T> =>
  withProcesses(async (adopt) => {
    const folder = openDataFolder(path);
    const log = join(backup, 'event-store', 'data');
    // Of servers, the log is restored where EventStoreDB runs.
    if (existsSync(log)) {
      mkdirSync(join(folder.eventStore, 'data'), { recursive: true, mode: 0o700 });
      cpSync(log, join(folder.eventStore, 'data'), { recursive: true });
    }
    const record = new ProcessRecord(folder.processes);
    const { POSTGRES_PASSWORD } = loadSecrets(folder);
    const { urls } = await startPostgres(folder, POSTGRES_PASSWORD, record, QUIET, adopt, async (all) => {
      await prepareEmbeddedRoles(all);
      await migrateTo(all.owner, MODULES, appliedCounts(manifest));
      await load(all);
      await migrate(all.owner, MODULES, APPLICATION);
    });
    return work({ folder, urls, record });
  });

/** @throws OpsError with every obstacle */
const requireNone = (obstacles: readonly string[]): void => {
  if (obstacles.length > 0) throw new OpsError(obstacles.join('\n'));
};

/** The message with which a check refuses; none when it passes. */
const refusalOf = (check: () => void): readonly string[] => {
  try {
    check();
    return [];
  } catch (error) {
    if (error instanceof OpsError) return [error.message];
    throw error;
  }
};

export interface Restored {
  /** Where the previous data is now; `null` when there was none. */
  readonly aside: string | null;
  /** Readings whose keys were kept out because they were erased after the backup. */
  readonly keptOut: number;
  /** Every reading that is known to be erased. */
  readonly erased: readonly ErasedReading[];
  /** Whether the data from before told what was erased after the backup: the embedded log, or the replaced database. */
  readonly previousLogRead: boolean;
}

/** The mirror that lists erased readings, or will. */
interface ErasedList {
  readonly folder: string;
  readonly erased: readonly ErasedReading[];
}

/** The folder itself, also behind a link: the new data belongs on its disk, and the link stays. */
export const placeOf = (dataDir: string): string =>
  existsSync(dataDir) ? realpathSync(dataDir) : resolve(dataDir);

/** What keeps a restore from this folder. */
export const embeddedObstacles = (givenDataDir: string, replace: boolean): readonly string[] => {
  const dataDir = placeOf(givenDataDir);
  const place = obstacleOfPlace(dataDir);
  if (place !== null) return [place];
  if (!hasData(dataDir)) return [];
  if (!isDataFolder(dataDir))
    return [`${dataDir} has files, and is no data folder of a stack: choose another DATA_DIR.`];
  const refusal = `${dataDir} has data: choose another DATA_DIR, or add --replace, which keeps the old data beside it.`;
  return [...(replace ? [] : [refusal]), ...refusalOf(() => lockOf(dataDir, dataDir)())];
};

/** The folder is built beside its place and renamed. The system renames no mount point. */
const obstacleOfPlace = (dataDir: string): string | null =>
  !existsSync(dataDir) || statSync(dataDir).dev === statSync(dirname(dataDir)).dev
    ? null
    : `${dataDir} is a mount point, which cannot be replaced: set DATA_DIR to a folder inside it.`;

const hasData = (dataDir: string): boolean => existsSync(dataDir) && readdirSync(dataDir).length > 0;

/** @throws OpsError with what is said, or by default with who has the lock, while it is taken */
const lockOf = (folder: string, dataDir: string, said?: string): (() => void) => {
  try {
    return takeLock(folder, dataDir);
  } catch (error) {
    if (error instanceof StackError) throw new OpsError(said ?? error.message);
    throw error;
  }
};

/** Builds beside the folder, and moves there what is complete. The next restore removes what an interrupted one left. */
export const restoreEmbedded = async (
  backup: string,
  manifest: Manifest,
  keys: ErasedList,
  givenDataDir: string,
  replace: boolean,
): Promise<Restored> => {
  const dataDir = placeOf(givenDataDir);
  requireNone(embeddedObstacles(dataDir, replace));
  const draft = `${dataDir}.restoring`;
  mkdirSync(dirname(draft), { recursive: true, mode: 0o700 });
  // One restore at a time builds there.
  const busy = `Another restore to ${dataDir} is running: let it end, or choose another DATA_DIR.`;
  const releaseDraft = lockOf(`${draft}.lock`, dataDir, busy);
  let release = (): void => undefined;
  try {
    // Another restore may have put its data there before the lock.
    requireNone(embeddedObstacles(dataDir, replace));
    const replaces = hasData(dataDir);
    if (replaces) release = lockOf(dataDir, dataDir);
    const previous = erasedIn(join(dataDir, 'event-store'));
    const listed = keys.erased.filter(({ readingId }) => !previous.notErased.includes(readingId));
    const erased = mergedReadings(listed, previous.erased);
    recordErased(keys.folder, manifest.installation, erased, manifest.postgres.takenAt);
    removeDataFolder(draft);
    const { keys: keyDirectory, secrets: secretsFile } = openDataFolder(draft);
    restoreKeys(keys.folder, { keyDirectory, secretsFile });
    let keptOut = 0;
    await withProgress('restore', (progress = none) =>
      buildDataFolder(
        draft,
        backup,
        manifest,
        async ({ owner }) => (keptOut = await loadTables(owner, backup, manifest, progress, erased)),
        () => Promise.resolve(),
      ),
    );
    const aside = replaces ? `${dataDir}.before-restore-${Date.now()}` : null;
    if (aside) renameSync(dataDir, aside);
    else if (existsSync(dataDir)) rmdirSync(dataDir);
    renameSync(draft, dataDir);
    syncPath(dirname(dataDir));
    if (aside) rmSync(join(aside, 'server.lock'), { force: true });
    return { aside, keptOut, erased, previousLogRead: previous.complete };
  } catch (error) {
    release();
    removeDataFolder(draft);
    if (!isDiskFull(error)) throw error;
    throw new OpsError(
      `The disk of ${dataDir} is full: the unfinished restore was removed, and what was there before is unharmed.`,
    );
  } finally {
    releaseDraft();
    rmdirSync(`${draft}.lock`);
  }
};

const none: OnTable = () => undefined;

/** In a process of its own: the old file may be damaged, and end its reader. @returns `complete`: it was read to its end */
const erasedIn = (
  eventStore: string,
): Pick<LogContents, 'erased' | 'notErased'> & { readonly complete: boolean } => {
  if (!existsSync(join(eventStore, 'data', 'data.mdb')))
    return { erased: [], notErased: [], complete: false };
  const { stdout, status } = spawnSync(
    process.execPath,
    [projectPath('dist/apps/ops/src/backup/list-erased.js'), eventStore],
    { encoding: 'utf8', maxBuffer: 1 << 30, stdio: ['ignore', 'pipe', 'ignore'] },
  );
  const lines = stdout
    .split('\n')
    .filter((line) => line.endsWith('}'))
    .map((line) => JSON.parse(line) as ErasedReading | { readonly notErased: string });
  return {
    erased: lines.flatMap((line) => ('notErased' in line ? [] : [line])),
    notErased: lines.flatMap((line) => ('notErased' in line ? [line.notErased] : [])),
    complete: status === 0,
  };
};

interface ServersPlan {
  readonly config: Config;
  /** Of the stopped node; for a backup with files. */
  readonly node: NodeFolders | null;
  /** For a backup that a command took. */
  readonly command: string | null;
  /** The mirror of keys; `null` when the keys are where the service looks for them. */
  readonly keys: string | null;
  readonly list: ErasedList;
  readonly replace: boolean;
}

/** What keeps a restore from these servers: what is missing, runs, or would be overwritten. */
const serverObstacles = async (
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
  if (keys !== null && KEY_DIRECTORY && hasData(KEY_DIRECTORY))
    found.push(
      `${KEY_DIRECTORY} has keys: add --without-keys to use them, or move them away to restore the mirror.`,
    );
  const sessions = await serviceSessions(ownerUrl(config), applicationOf(config));
  if (sessions > 0) found.push(`Stop API and workers first: they have ${sessions} sessions on the database.`);
  const [filled] = replace ? [] : await filledTables(ownerUrl(config));
  if (filled !== undefined)
    found.push(`The database has data (${filled}): add --replace to delete it and load the backup.`);
  return found;
};

/** The role of API and worker. */
const applicationOf = ({ DATABASE_URL }: Config): string =>
  decodeURIComponent(new URL(DATABASE_URL).username);

const ownerUrl = ({ DATABASE_OWNER_URL, DATABASE_URL }: Config): string => DATABASE_OWNER_URL ?? DATABASE_URL;

/**
 * Restores keys, then PostgreSQL, then the event store. Until the tables are loaded, the application's role has no
 * rights on them; until the log is there, consumers do not start. What the replaced database knows of erasures is listed
 * before it is dropped.
 */
export const restoreServers = async (
  backup: string,
  manifest: Manifest,
  plan: ServersPlan,
): Promise<Restored> => {
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
  const keptOut = await withProgress('PostgreSQL', (progress = none) =>
    loadTables(url, backup, manifest, progress, erased),
  );
  if (node) restoreNode(node, backup);
  if (command !== null)
    runForLog(
      command,
      join(backup, 'event-store'),
      ' PostgreSQL is restored: repeat the command by hand, then run ops migrate.',
    );
  await migrate(url, MODULES, config.DATABASE_OWNER_URL === undefined ? undefined : applicationOf(config));
  return { aside: null, keptOut, erased, previousLogRead: replaced.isNewer };
};

const SILENT_LOG = { warn: () => undefined, error: () => undefined };

/**
 * Checks every file, restores into a scratch folder, and compares the rows, the log, and every read model with its rebuild.
 * @param scratch connection of an EventStoreDB that serves the restored files; an embedded backup needs none
 * @returns findings and what could not be compared here, a sentence each
 */
export const verifyBackup = async (backup: string, manifest: Manifest, scratch: string | null) => {
  const { tables } = manifest.postgres;
  const report = {
    tables: tables.length,
    rows: tables.reduce((sum, { rows }) => sum + rows, 0),
    events: manifest.eventStore.log.events,
    projections: 0,
    notCompared: [] as string[],
  };
  const damaged = damagedFiles(backup, manifest);
  if (damaged.length > 0) return { ...report, findings: damaged };
  const folder = mkdtempSync(join(tmpdir(), 'reading-service-verify-'));
  const findings: string[] = [];
  try {
    await withProgress('restore', (progress = () => undefined) =>
      buildDataFolder(
        folder,
        backup,
        manifest,
        async ({ owner }) => {
          await loadTables(owner, backup, manifest, progress, null);
          findings.push(...(await differingTables(owner, manifest)));
        },
        (open) =>
          withScratchStore(open, manifest, scratch, async (store) => {
            findings.push(...(await differingLog(store, manifest.eventStore.log)));
            const compared = await differingProjections(open.urls.owner, withSetAside(store));
            report.projections = compared.projections;
            findings.push(...compared.findings);
          }),
      ),
    );
    if (manifest.eventStore.kind !== 'embedded' && scratch === null) report.notCompared.push(NO_SCRATCH);
    return { ...report, findings };
  } catch (error) {
    if (!isDiskFull(error)) throw error;
    throw new OpsError(
      `The disk of ${dirname(folder)} is too small to verify the backup: set TMPDIR to a folder with room for it.`,
    );
  } finally {
    removeDataFolder(folder);
  }
};

const NO_SCRATCH =
  'The log and the read models: start an EventStoreDB on the restored files, and name it with --scratch-event-store.';

/** Does the work on the restored log. Of servers, only a store that the operator names serves it. */
const withScratchStore = async (
  { folder, record }: OpenFolder,
  { eventStore }: Manifest,
  scratch: string | null,
  work: (store: EventStore) => Promise<void>,
): Promise<void> => {
  if (eventStore.kind !== 'embedded') return scratch === null ? undefined : onEventStore(scratch, work);
  await withProcesses(async (adopt) => {
    const { url } = await startEmbeddedEventStore({ folder, record, events: QUIET, adopt });
    await onEventStore(url, work);
  });
};

const onEventStore = async (url: string, work: (store: EventStore) => Promise<void>): Promise<void> => {
  const store = await openEventStore({
    connectionString: url,
    mayBeginWith: LAST_WORDS,
    appendTimeoutMs: 5_000,
    readTimeoutMs: 10_000,
  });
  try {
    await work(store);
  } finally {
    await store.close();
  }
};

const differingLog = async (store: EventStore, wanted: LogFingerprint): Promise<readonly string[]> => {
  const end = wanted.lastPosition === null ? null : BigInt(wanted.lastPosition);
  const { log } = await withProgress('log', (progress) => readLog(store, end, progress));
  if (log.events !== wanted.events)
    return [`The log has ${log.events} events up to ${wanted.lastPosition}, instead of ${wanted.events}.`];
  if (log.lastPosition !== wanted.lastPosition)
    return [`The log ends at ${log.lastPosition} instead of ${wanted.lastPosition}.`];
  return log.sha256 === wanted.sha256 ? [] : ['Events of the log have other contents than in the service.'];
};

/** Rebuilds each read model beside the restored one, up to its checkpoint, and compares every row. */
const differingProjections = async (
  url: string,
  store: EventStore,
): Promise<{ findings: readonly string[]; projections: number }> => {
  const pool = openPool(url, {
    size: 5,
    applicationName: 'reading-service ops backup verify',
    onError: () => undefined,
  });
  const workshop = { pool, store, log: SILENT_LOG, program: programFingerprint() };
  const findings: string[] = [];
  let projections = 0;
  try {
    for (const projection of PROJECTIONS) {
      try {
        await rebuild(workshop, projection);
        const { equal, tables } = await verify(workshop, projection);
        projections += 1;
        if (equal) continue;
        for (const { table, differences, examples } of tables.filter((one) => one.differences > 0))
          findings.push(`${table} differs from its rebuild in ${differences} rows, such as ${examples[0]}.`);
      } catch (error) {
        if (!(error instanceof Refused)) throw error;
        // A view that has never handled an event has nothing to compare.
        if (!/has not handled any event/.test(error.message)) findings.push(error.message);
      }
    }
    return { findings, projections };
  } finally {
    await pool.end();
  }
};
