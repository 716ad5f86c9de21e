import { chmodSync, existsSync, lstatSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { hasCode, StackError } from './stack-error.js';
import { UnusableDataError } from '#embedded-event-store/log/environment.js';
import { holderOf, lockFolder } from '#embedded-event-store/log/folder-lock.js';

/** Paths of all files of the embedded stack, under one folder. Absolute paths. */
export interface DataFolder {
  readonly path: string;
  /** The database. For root in a folder that other users cannot enter, a link to `/var/lib/…`. */
  readonly postgres: string;
  readonly eventStore: string;
  /** The event store's certificate, private key and login of the current run. */
  readonly eventStoreAccess: string;
  readonly logs: string;
  readonly secrets: string;
  /** The private keys of the operators, made from `secrets`. */
  readonly operators: string;
  /** Epoch keys, sealed with the keys in `secrets`: outside the database, so that its backups have none. */
  readonly keys: string;
  readonly runtime: string;
  /** The settings of programs that the stack leaves to others, for Node's `--env-file`. */
  readonly environment: string;
  readonly processes: string;
  readonly demoWorkspace: string;
}

/** The folder that DATA_DIR names: an absolute path. Without the setting, or with an empty one, `.data` here. */
export const dataDirOf = (environment: NodeJS.ProcessEnv): string =>
  resolve(environment['DATA_DIR'] || '.data');

/** Whether a folder has what a data folder has, if only a part is left. Anything else is not the stack's to replace. */
export const isDataFolder = (path: string): boolean =>
  ['secrets.json', 'event-store'].some((name) => existsSync(join(path, name)));

/** Opens the folder and creates it if it is missing. @throws StackError when it is not writable */
export const openDataFolder = (path: string): DataFolder => {
  const root = resolve(path);
  const folder: DataFolder = {
    path: root,
    postgres: join(root, 'postgres'),
    eventStore: join(root, 'event-store'),
    eventStoreAccess: join(root, 'event-store-access'),
    logs: join(root, 'logs'),
    secrets: join(root, 'secrets.json'),
    operators: join(root, 'operators'),
    keys: join(root, 'keys'),
    runtime: join(root, 'runtime.json'),
    environment: join(root, 'environment'),
    processes: join(root, 'processes.json'),
    demoWorkspace: join(root, 'demo-workspace.json'),
  };
  try {
    mkdirSync(root, { recursive: true, mode: 0o700 });
    // Under root, the database server runs as another user. It must be able to pass through the folder, but
    // not to list it.
    chmodSync(root, process.getuid?.() === 0 ? 0o711 : 0o700);
    const { eventStore, eventStoreAccess, logs, keys, operators } = folder;
    for (const part of [eventStore, eventStoreAccess, logs, keys, operators])
      mkdirSync(part, { recursive: true, mode: 0o700 });
  } catch (error) {
    // Below a read-only mount, Node reports the missing parent that it could not make: ENOENT.
    if (hasCode(error, 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST', 'ENOENT'))
      throw new StackError(`The data folder ${root} is not writable: choose another one with DATA_DIR.`);
    throw error;
  }
  return folder;
};

/** Deletes an unused data folder and the database it links to. */
export const removeDataFolder = (path: string): void => {
  const database = join(path, 'postgres');
  if (existsSync(database) && lstatSync(database).isSymbolicLink())
    rmSync(realpathSync(database), { recursive: true, force: true });
  rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
};

/** @param dataDir what the lock is about @returns what releases it @throws StackError when a running process holds it */
export const takeLock = (folder: string, dataDir = folder): (() => void) => {
  try {
    return lockFolder(folder);
  } catch (error) {
    if (!(error instanceof UnusableDataError)) throw error;
    const holder = holderOf(folder);
    throw new StackError(
      holder
        ? `Already running on ${dataDir} (process ${holder.pid}). Stop it first, or choose another DATA_DIR.`
        : `Another process is starting on ${dataDir}.`,
    );
  }
};
