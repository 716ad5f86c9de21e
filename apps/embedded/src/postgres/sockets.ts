import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StackError } from '../stack-error.js';
import { giveFolder } from './give-folder.js';
import type { Account } from './account.js';

/** The number in the socket's name, in place of a port. */
export const SOCKET_NUMBER = 5432;

/**
 * Longest folder path, bytes. A socket path has at most 107 bytes on Linux and 103 on macOS, including the
 * file name.
 */
const LONGEST_PATH = 103 - `/.s.PGSQL.${SOCKET_NUMBER}`.length;

/**
 * An empty folder for the server's socket that no other user can enter. It is under `home`, or in a temporary
 * folder if that path is too long. The temporary folder is removed when this process ends.
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
    throw new StackError(
      'The paths DATA_DIR and TMPDIR are too long for a socket: choose a shorter DATA_DIR.',
    );
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
};
