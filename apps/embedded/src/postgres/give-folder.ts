import { closeSync, constants, fchownSync, fstatSync, openSync } from 'node:fs';
import type { Account } from './account.js';

/**
 * Makes an account the owner of a folder that this process has just created. The account may own the parent
 * folder and may have replaced the new one. Following a link, or opening another file here, would give away
 * the wrong target.
 * @throws Error for anything but a folder of this process
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
