import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StackError } from '../stack-error.js';
import { giveFolder } from './give-folder.js';
import type { Account } from './account.js';

/** Part of the socket's name, in place of a port. */
export const SOCKET_NUMBER = 5432;

/** Bytes of a socket's path, of which Linux takes 107 and macOS 103, less the name that the server adds. */
const LONGEST_PATH = 103 - `/.s.PGSQL.${SOCKET_NUMBER}`.length;

/**
 * An empty folder for the server's socket that no other user can enter: below `home`, or where that path is too long
 * for a socket in a temporary folder, which is removed when this process ends.
 */
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
    throw new StackError('DATA_DIR and TMPDIR are too long for a socket: choose a shorter DATA_DIR.');
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
};
