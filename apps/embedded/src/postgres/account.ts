import { execFileSync, spawnSync } from 'node:child_process';
import { StackError } from '../stack-error.js';

/** The system user that runs the database server. PostgreSQL refuses to run as root. */
export interface Account {
  readonly uid: number;
  readonly gid: number;
}

const NAME = 'postgres';

/**
 * The account of the database server. For an ordinary user it is undefined: the server runs as that user. For
 * root it is the user `postgres`, created if it does not exist.
 */
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
export const canEnter = (account: Account | undefined, folder: string): boolean =>
  spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...account, cwd: '/', stdio: 'ignore' }).status ===
  0;
