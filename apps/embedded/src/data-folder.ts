import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  realpathSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { UnusableDataError } from '#embedded-event-store/log/environment.js';
import { holderOf, lockFolder } from '#embedded-event-store/log/folder-lock.js';

/** A start that cannot continue: its message is one line to act on, printed without a stack trace. */
export class StackError extends Error {
  override readonly name = 'StackError';
}

const hasCode = (error: unknown, ...codes: string[]): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && codes.includes(String(error.code));

export const writePrivateJson = (path: string, value: unknown): void =>
  writePrivateFile(path, `${JSON.stringify(value, null, 2)}\n`);

/** Writes a file that only the owner can read (mode 0600): at once, and durable even across a power failure. */
export const writePrivateFile = (path: string, text: string | Uint8Array): void => {
  const draft = `${path}.${randomUUID()}`;
  const file = openSync(draft, 'wx', 0o600);
  try {
    writeFileSync(file, text);
    fsyncSync(file);
    renameSync(draft, path);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
};

/** Like `writePrivateJson`; on a full disk, the file stays as it is until the next change. */
export const writePrivateJsonIfRoom = (path: string, value: unknown): void => {
  try {
    writePrivateJson(path, value);
  } catch (error) {
    if (!hasCode(error, 'ENOSPC', 'EDQUOT')) throw error;
  }
};

/** @returns the parsed file, or undefined if it does not exist or is not JSON. */
export const readJson = (path: string): unknown => {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    if (hasCode(error, 'ENOENT') || error instanceof SyntaxError) return undefined;
    throw error;
  }
};

/** The folder that DATA_DIR names: an absolute path. Without the setting, or with an empty one, `.data` here. */
export const dataDirOf = (environment: NodeJS.ProcessEnv): string =>
  resolve(environment['DATA_DIR'] || '.data');

/** Whether a folder has what a data folder has, if only a part is left. Anything else is not the stack's to replace. */
export const isDataFolder = (path: string): boolean =>
  ['secrets.json', 'event-store'].some((name) => existsSync(join(path, name)));

/**
 * Opens the folder and creates it if it is missing.
 * @returns the absolute paths of all files of the embedded stack @throws StackError when it is not writable
 */
export const openDataFolder = (path: string) => {
  const root = resolve(path);
  const folder = {
    path: root,
    /** The database. For root in a folder that other users cannot enter, a link to `/var/lib/…`. */
    postgres: join(root, 'postgres'),
    eventStore: join(root, 'event-store'),
    /** The event store's certificate, private key and login of the current run. */
    eventStoreAccess: join(root, 'event-store-access'),
    logs: join(root, 'logs'),
    secrets: join(root, 'secrets.json'),
    /** The private keys of the operators, made from `secrets`. */
    operators: join(root, 'operators'),
    /** Epoch keys, sealed with the keys in `secrets`: outside the database, so that its backups have none. */
    keys: join(root, 'keys'),
    runtime: join(root, 'runtime.json'),
    /** The settings of programs that the stack leaves to others, for Node's `--env-file`. */
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
export type DataFolder = Readonly<ReturnType<typeof openDataFolder>>;

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
