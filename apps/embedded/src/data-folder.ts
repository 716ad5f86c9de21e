import { chmodSync, existsSync, lstatSync, mkdirSync, realpathSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { hasCode, StackError } from './stack-error.js';

/** Everything the embedded stack keeps, under one folder. Absolute paths. */
export interface DataFolder {
  readonly path: string;
  /** The database; as root in a folder that others cannot enter, a link to `/var/lib/…`. */
  readonly postgres: string;
  readonly eventStore: string;
  /** The event store's certificate, its key and its login, of this start. */
  readonly eventStoreAccess: string;
  readonly logs: string;
  readonly secrets: string;
  /** Keys of epochs, sealed with those of `secrets`; apart from the database, whose backups do not hold them. */
  readonly keys: string;
  readonly runtime: string;
  readonly processes: string;
  readonly lock: string;
  readonly demoWorkspace: string;
}

/** Creates the folder if need be. @throws StackError when it cannot be written */
export const openDataFolder = (path: string): DataFolder => {
  const root = resolve(path);
  const folder: DataFolder = {
    path: root,
    postgres: join(root, 'postgres'),
    eventStore: join(root, 'event-store'),
    eventStoreAccess: join(root, 'event-store-access'),
    logs: join(root, 'logs'),
    secrets: join(root, 'secrets.json'),
    keys: join(root, 'keys'),
    runtime: join(root, 'runtime.json'),
    processes: join(root, 'processes.json'),
    lock: join(root, 'lock'),
    demoWorkspace: join(root, 'demo-workspace.json'),
  };
  try {
    mkdirSync(root, { recursive: true, mode: 0o700 });
    // Run by root, the database server is another user, who must be able to pass through (but not to look around).
    chmodSync(root, process.getuid?.() === 0 ? 0o711 : 0o700);
    for (const part of [folder.eventStore, folder.eventStoreAccess, folder.logs, folder.keys])
      mkdirSync(part, { recursive: true, mode: 0o700 });
  } catch (error) {
    if (hasCode(error, 'EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST')) {
      throw new StackError(`The data folder ${root} cannot be written: choose another with DATA_DIR.`);
    }
    throw error;
  }
  return folder;
};

/** Deletes a data folder that nothing uses any more, and the database it links to. */
export const removeDataFolder = (path: string): void => {
  const database = join(path, 'postgres');
  if (existsSync(database) && lstatSync(database).isSymbolicLink()) {
    rmSync(realpathSync(database), { recursive: true, force: true });
  }
  rmSync(path, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
};
