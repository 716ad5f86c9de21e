import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  fchownSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StackError } from '../stack-error.js';

/** The system user that runs the database server. PostgreSQL refuses to run as root. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

const NAME = 'postgres';

/** Undefined for an ordinary user: the server runs as that user. For root the user `postgres`, created if missing. */
export const databaseAccount = (): Account | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const account = lookUp() ?? create();
  if (account) return account;
  throw new StackError(
    'PostgreSQL cannot run as root, and the user "postgres" could not be created: create it, or start as an ordinary user.',
  );
};

const lookUp = (): Account | undefined => {
  try {
    const id = (flag: string): number =>
      Number(execFileSync('id', [flag, NAME], { stdio: ['ignore', 'pipe', 'ignore'] }));
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return undefined;
  }
};

const create = (): Account | undefined => {
  spawnSync(
    'useradd',
    ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', NAME],
    { stdio: 'ignore' },
  );
  return lookUp();
};

/** Whether the account can enter a folder. Asks the operating system, so parents, ACLs and mounts count. */
const canEnter = (account: Account | undefined, folder: string): boolean =>
  spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...account, cwd: '/', stdio: 'ignore' }).status ===
  0;

/**
 * Makes an account the owner of a folder that this process has just made. The account may own the parent, and may have put
 * a link or another file there, which would be given away. @throws Error for anything but a folder of this process
 */
export const giveFolder = (folder: string, { uid, gid }: Account): void => {
  const handle = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    if (fstatSync(handle).uid !== process.getuid?.())
      throw new Error(`${folder} is not a folder of this process`);
    fchownSync(handle, uid, gid);
  } finally {
    closeSync(handle);
  }
};

/** Root's folder for databases whose data folder other users cannot enter. Only root can write to its parent. */
const OUTSIDE = '/var/lib/reading-service-embedded';

/**
 * Makes `DATA_DIR/postgres` if it is missing; for root, a link to elsewhere if the server's account cannot get there.
 * @returns its real path
 */
export const databaseHome = (path: string, account: Account | undefined): string => {
  // A dangling link is there, too.
  if (!lstatSync(path, { throwIfNoEntry: false })) makeHome(path, account);
  if (!existsSync(path))
    throw new StackError(`${path} links to a database that no longer exists: start with an empty DATA_DIR.`);
  const home = realpathSync(path);
  if (canEnter(account, home)) return home;
  throw new StackError(
    `The user "postgres" cannot enter ${home}: move DATA_DIR to a folder that every user can enter.`,
  );
};

const makeHome = (path: string, account: Account | undefined): void => {
  if (canEnter(account, join(path, '..'))) {
    mkdirSync(path, { mode: 0o700 });
    if (account) giveFolder(path, account);
    return;
  }
  mkdirSync(OUTSIDE, { recursive: true, mode: 0o711 });
  const outside = mkdtempSync(join(OUTSIDE, 'database-'));
  if (account) giveFolder(outside, account);
  symlinkSync(outside, path);
};

/** The number in the socket's name, in place of a port. */
export const SOCKET_NUMBER = 5432;

/** Bytes of a folder's path: that of a socket has at most 107 on Linux and 103 on macOS, with its name. */
const LONGEST_PATH = 103 - `/.s.PGSQL.${SOCKET_NUMBER}`.length;

/** An empty folder that no other user can enter; a temporary one of this process if the path would be too long. */
export const socketFolder = (home: string, account: Account | undefined): string => {
  const near = join(home, 'socket');
  rmSync(near, { recursive: true, force: true });
  const folder = Buffer.byteLength(near) <= LONGEST_PATH ? near : temporary();
  if (folder === near) mkdirSync(folder, { mode: 0o700 });
  if (account) giveFolder(folder, account);
  return folder;
};

const temporary = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'reading-service-socket-'));
  if (Buffer.byteLength(folder) > LONGEST_PATH)
    throw new StackError(
      'The paths DATA_DIR and TMPDIR are too long for a socket: choose a shorter DATA_DIR.',
    );
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
};
