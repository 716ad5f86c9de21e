import { chownSync, existsSync, lstatSync, mkdirSync, mkdtempSync, realpathSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { StackError } from '../stack-error.js';
import { canEnter, type Account } from './account.js';

/** Root's folder for databases whose data folder other users cannot enter. Only root can write to its parent. */
const OUTSIDE = '/var/lib/reading-service-embedded';

/**
 * The folder of the database cluster, created if missing. It is `DATA_DIR/postgres` itself, or a folder it
 * links to if the server's account cannot get there (root, in a folder like /root).
 * @returns its real path, which the server can reach
 */
export const databaseHome = (path: string, account: Account | undefined): string => {
  if (!exists(path)) create(path, account);
  if (!existsSync(path)) {
    throw new StackError(`${path} links to a database that no longer exists: start with an empty DATA_DIR.`);
  }
  const home = realpathSync(path);
  if (!canEnter(account, home)) {
    throw new StackError(
      `The user "postgres" cannot enter ${home}: move DATA_DIR to a folder that every user can enter.`,
    );
  }
  return home;
};

/** Also true for a dangling link. */
const exists = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false }) !== undefined;

const create = (path: string, account: Account | undefined): void => {
  if (canEnter(account, join(path, '..'))) {
    mkdirSync(path, { mode: 0o700 });
    own(path, account);
    return;
  }
  mkdirSync(OUTSIDE, { recursive: true, mode: 0o711 });
  const outside = mkdtempSync(join(OUTSIDE, 'database-'));
  own(outside, account);
  symlinkSync(outside, path);
};

const own = (folder: string, account: Account | undefined): void => {
  if (account) chownSync(folder, account.uid, account.gid);
};
