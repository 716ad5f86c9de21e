import { closeSync, constants, fchownSync, fstatSync, openSync } from 'node:fs';
import type { Account } from './account.js';

/**
 * Gives a folder that this process has just made to an account, which may own the folder above it and put something else
 * in its place: a link followed here, or a file with another name here, would be given away instead.
 * @throws Error of what is not a folder of this process
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
