import { spawnSync } from 'node:child_process';
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { projectPath } from '#platform/project-path.js';
import { takeLock } from '../../../embedded/src/lock.js';
import { isDataFolder, openDataFolder, removeDataFolder } from '../../../embedded/src/data-folder.js';
import { StackError } from '../../../embedded/src/stack-error.js';
import { OpsError } from '../ops-error.js';
import { withProgress } from '../progress.js';
import { buildDataFolder } from './embedded-folder.js';
import { mergedReadings, recordErased, restoreKeys } from './keys-mirror.js';
import { isDiskFull } from './disk-full.js';
import { isMountPoint } from './mount-points.js';
import { refusalOf, requireNone } from './obstacles.js';
import type { ErasedReading } from './erased-reading.js';
import { settleTables } from './load-tables.js';
import { syncPath, type Manifest } from './manifest.js';

export interface RestoredFolder {
  /** Where the previous data is now; `null` when there was none. */
  readonly aside: string | null;
  /** Readings whose keys were kept out because they were erased after the backup. */
  readonly keptOut: number;
  /** Every reading that is known to be erased. */
  readonly erased: readonly ErasedReading[];
  /** Whether there was a log of previous data, which could be read to its end for erasures. */
  readonly previousLogRead: boolean;
}

/** The folder itself, also behind a link: the new data belongs on its disk, and the link stays. */
export const placeOf = (dataDir: string): string =>
  existsSync(dataDir) ? realpathSync(dataDir) : resolve(dataDir);

/** What keeps a restore from this folder, a sentence each. */
export const embeddedObstacles = (givenDataDir: string, replace: boolean): readonly string[] => {
  const dataDir = placeOf(givenDataDir);
  const place = obstacleOfPlace(dataDir);
  if (place !== null) return [place];
  if (!hasData(dataDir)) return [];
  if (!isDataFolder(dataDir))
    return [`${dataDir} has files, and is no data folder of a stack: choose another DATA_DIR.`];
  const refusal = `${dataDir} has data: choose another DATA_DIR, or add --replace, which keeps the old data beside it.`;
  return [...(replace ? [] : [refusal]), ...refusalOf(() => lockOf(dataDir)())];
};

/** The folder is built beside its place and renamed. The system renames no mount point. */
const obstacleOfPlace = (dataDir: string): string | null => {
  let parent = dirname(dataDir);
  while (!existsSync(parent)) parent = dirname(parent);
  if (!isWritableFolder(parent))
    return `${parent} is no folder that can be written: the data folder is built there. Choose another DATA_DIR.`;
  if (!existsSync(dataDir) && lstatSync(dataDir, { throwIfNoEntry: false }))
    return `${dataDir} is a link to a folder that does not exist: is its disk mounted?`;
  if (isMountPoint(dataDir))
    return `${dataDir} is a mount point, which cannot be replaced: set DATA_DIR to a folder inside it.`;
  return null;
};

const isWritableFolder = (path: string): boolean => {
  try {
    accessSync(path, constants.W_OK | constants.X_OK);
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
};

const hasData = (dataDir: string): boolean => existsSync(dataDir) && readdirSync(dataDir).length > 0;

const lockOf = (dataDir: string): (() => void) => {
  try {
    return takeLock(join(dataDir, 'lock'), dataDir);
  } catch (error) {
    if (error instanceof StackError) throw new OpsError(error.message);
    throw error;
  }
};

/** One restore at a time builds there. @throws OpsError while another one does */
const lockOfDraft = (draft: string, dataDir: string): (() => void) => {
  mkdirSync(dirname(draft), { recursive: true, mode: 0o700 });
  try {
    return takeLock(`${draft}.lock`, dataDir);
  } catch (error) {
    if (error instanceof StackError)
      throw new OpsError(`Another restore to ${dataDir} is running: let it end, or choose another DATA_DIR.`);
    throw error;
  }
};

/**
 * Builds the data folder beside its place and moves it there when it is complete. An interrupted restore leaves
 * `<folder>.restoring`, which the next one removes, and the old data untouched.
 */
export const restoreEmbedded = async (
  backup: string,
  manifest: Manifest,
  keys: { readonly folder: string; readonly erased: readonly ErasedReading[] },
  givenDataDir: string,
  replace: boolean,
): Promise<RestoredFolder> => {
  const dataDir = placeOf(givenDataDir);
  requireNone(embeddedObstacles(dataDir, replace));
  const draft = `${dataDir}.restoring`;
  const releaseDraft = lockOfDraft(draft, dataDir);
  let release = (): void => undefined;
  try {
    // Another restore may have put its data there before the lock.
    requireNone(embeddedObstacles(dataDir, replace));
    const replaces = hasData(dataDir);
    if (replaces) release = lockOf(dataDir);
    const previous = replaces ? erasedIn(join(dataDir, 'event-store')) : NOTHING_BEFORE;
    const listed = keys.erased.filter(({ readingId }) => !previous.notErased.includes(readingId));
    const erased = mergedReadings(listed, previous.erased);
    recordErased(keys.folder, manifest.installation, erased, manifest.postgres.takenAt);
    removeDataFolder(draft);
    const { keys: keyDirectory, secrets: secretsFile } = openDataFolder(draft);
    restoreKeys(keys.folder, { keyDirectory, secretsFile });
    const keptOut = await withProgress('restore', (progress) =>
      buildDataFolder(
        draft,
        backup,
        manifest,
        progress ?? (() => undefined),
        () => Promise.resolve(),
        ({ urls }) => settleTables(urls.owner, erased),
      ),
    );
    const aside = replaces ? `${dataDir}.before-restore-${Date.now()}` : null;
    if (aside) renameSync(dataDir, aside);
    else if (existsSync(dataDir)) rmdirSync(dataDir);
    renameSync(draft, dataDir);
    syncPath(dirname(dataDir));
    if (aside) rmSync(join(aside, 'lock'), { force: true });
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
  }
};

interface ErasedBefore {
  readonly erased: readonly ErasedReading[];
  readonly notErased: readonly string[];
  /** Whether the log could be read to its end. */
  readonly complete: boolean;
}

const NOTHING_BEFORE: ErasedBefore = { erased: [], notErased: [], complete: false };

/** In a process of its own: the old file may be damaged, and end its reader. */
const erasedIn = (eventStore: string): ErasedBefore => {
  if (!existsSync(join(eventStore, 'data', 'data.mdb'))) return NOTHING_BEFORE;
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
