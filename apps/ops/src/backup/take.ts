import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import { backUpFolder } from '#embedded-event-store/operator/backup.js';
import { beyondTheLog } from '#event-sourcing/projections/consumer-lag.js';
import { EpochRows, type EpochKeys } from '#platform/crypto/epochs/epoch-keys.js';
import { installationOf } from '#platform/crypto/installation.js';
import { projectPath } from '#platform/project-path.js';
import { requireEpochKeys } from '../commands/keys.js';
import { OpsError, tell, withProgress } from '../output.js';
import type { Session } from '../session.js';
import { copyNode, filesBelow, readLog, runForLog, type LogContents, type NodeFolders } from './log.js';
import {
  describeFile,
  isDiskFull,
  syncPath,
  writeManifest,
  type BackupFile,
  type Manifest,
} from './manifest.js';
import { findMirror, mirrorKeys, type KeySources } from './mirror.js';
import { copyTables } from './tables.js';

/** How the log gets into the backup: from an embedded store, the files of a node, or by a shell command of the operator. */
export type LogSource =
  | { readonly kind: 'embedded'; readonly folder: string }
  | { readonly kind: 'files'; readonly node: NodeFolders }
  | { readonly kind: 'command'; readonly command: string };

export interface BackupPlan {
  readonly to: string;
  readonly log: LogSource;
  /** The mirror of keys, which lists erased readings too. `from: null` only lists: other means mirror the keys. */
  readonly mirror: { readonly to: string; readonly from: KeySources | null };
}

export type BackupSources = Pick<Session, 'config' | 'store' | 'pool'> & {
  readonly keys: Pick<EpochKeys, 'store' | 'requireStore'>;
};

/** @throws OpsError when a target is in use, keys and backup would lie together, or a key to mirror is missing */
const checkBackup = async (sources: BackupSources, plan: BackupPlan): Promise<void> => {
  checkTargets(plan);
  const { to, from } = plan.mirror;
  findMirror(to, installationOf(sources.config));
  if (from) await destroyedEpochs(sources);
};

/** Epochs with destroyed keys. @throws OpsError when the key of another one is missing */
const destroyedEpochs = async ({ pool, keys }: BackupSources): Promise<readonly string[]> => {
  const rows = await new EpochRows(pool).all();
  await requireEpochKeys(rows, keys);
  return rows.flatMap(({ epoch, destroyedAt }) => (destroyedAt === null ? [] : [epoch]));
};

const checkTargets = ({ to, mirror }: BackupPlan): void => {
  if (existsSync(to) && readdirSync(to).length > 0)
    throw new OpsError(`${to} is not empty: choose a new folder for the backup.`);
  const inside = (one: string, other: string): boolean =>
    `${resolve(one)}${sep}`.startsWith(`${resolve(other)}${sep}`);
  if (inside(mirror.to, to) || inside(to, mirror.to))
    throw new OpsError(
      'The mirror must not lie with the backup: choose a folder elsewhere, on another disk.',
    );
};

/**
 * Takes PostgreSQL first, the event store after it, the keys last: every checkpoint points to an event of the copied log.
 * @throws OpsError; nothing of an unfinished backup remains
 */
export const takeBackup = async (sources: BackupSources, plan: BackupPlan): Promise<Manifest> => {
  await checkBackup(sources, plan);
  const { config, store } = sources;
  const to = resolve(plan.to);
  const installation = installationOf(config);
  const unfinished = newUnfinished(to);
  try {
    const postgres = await withProgress('PostgreSQL', (progress = none) =>
      copyTables(config.DATABASE_OWNER_URL ?? config.DATABASE_URL, unfinished, progress),
    );
    // Read after the snapshot: no checkpoint in it is beyond this event.
    const end = await store.end();
    await requireWithinLog(sources);
    const files = await withProgress('event store', (progress = none) =>
      copyLog(plan.log, unfinished, end, progress),
    );
    const { log, ...erasures } = await withProgress('log', (progress) => readLog(store, end, progress));
    const manifest: Manifest = {
      format: 'reading-service-backup/1',
      installation,
      program: programVersion(),
      stores: plan.log.kind === 'embedded' ? 'embedded' : 'servers',
      postgres,
      eventStore: { kind: plan.log.kind, files: [...files], log },
    };
    writeManifest(unfinished, manifest);
    const destroyed = plan.mirror.from ? await destroyedEpochs(sources) : [];
    updateMirror(plan.mirror, destroyed, installation, erasures);
    // An empty folder gives way; one that was filled meanwhile stays.
    renameSync(unfinished, to);
    syncPath(dirname(to));
    return manifest;
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw explained(error, to);
  }
};

/** A folder of this run alone: another run with the same target has its own. */
const newUnfinished = (to: string): string => {
  try {
    mkdirSync(dirname(to), { recursive: true, mode: 0o700 });
    return mkdtempSync(`${to}.unfinished-`);
  } catch (error) {
    throw explained(error, to);
  }
};

const NO_KEYS: KeySources = { keyDirectory: null, secretsFile: null };

/** Its folder is on another disk than the backup, so an error names that one. */
const updateMirror = (
  { to, from }: BackupPlan['mirror'],
  destroyed: readonly string[],
  installation: string,
  { erased, notErased }: Pick<LogContents, 'erased' | 'notErased'>,
): void => {
  try {
    const kept = mirrorKeys(to, installation, { ...(from ?? NO_KEYS), destroyed }, erased, notErased);
    if (kept.length > 0)
      tell(
        `KEY_DIRECTORY has keys of epochs that count as destroyed: ${kept.join(', ')}. The mirror keeps them. ops doctor says what to do.`,
      );
  } catch (error) {
    throw explained(error, to);
  }
};

const none = (): void => undefined;

/** PostgreSQL that is newer than its log was restored in the wrong order; a backup of it would be useless. */
const requireWithinLog = async ({ pool, store }: BackupSources): Promise<void> => {
  const [consumer] = await beyondTheLog(pool, store);
  if (consumer !== undefined)
    throw new OpsError(
      `The checkpoint of ${consumer} is beyond the end of the log or of another one: PostgreSQL is newer than the event store. ops doctor says what to do.`,
    );
};

const copyLog = async (
  source: LogSource,
  backup: string,
  end: bigint | null,
  onFile: (done: number, total: number) => void,
): Promise<readonly BackupFile[]> => {
  const folder = join(backup, 'event-store');
  switch (source.kind) {
    case 'embedded': {
      const { findings, listed } = await backUpFolder(source.folder, folder, end);
      if (findings > 0) throw new OpsError(`The event store is damaged: ${listed.slice(0, 3).join(' ')}`);
      const data = join(folder, 'data');
      // LMDB makes its lock file anew.
      rmSync(join(data, 'lock.mdb'), { force: true });
      for (const path of [folder, data]) chmodSync(path, 0o700);
      chmodSync(join(data, 'data.mdb'), 0o600);
      return [describeFile(backup, join('event-store', 'data', 'data.mdb'))];
    }
    case 'files':
      return copyNode(source.node, backup, end, onFile);
    case 'command': {
      mkdirSync(folder, { mode: 0o700 });
      runForLog(source.command, folder);
      return filesBelow(folder).map((name) => describeFile(backup, join('event-store', name)));
    }
  }
};

const programVersion = (): string =>
  (JSON.parse(readFileSync(projectPath('package.json'), 'utf8')) as { version: string }).version;

/** Names a full disk and an unwritable folder; leaves other errors as they are. */
const explained = (error: unknown, to: string): unknown => {
  const { code, message } = error as NodeJS.ErrnoException;
  if (isDiskFull(error))
    return new OpsError(
      `The disk of ${to} is full: the unfinished backup was removed. The service is unharmed.`,
    );
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS')
    return new OpsError(`${to} cannot be written: ${message}.`);
  return error;
};
