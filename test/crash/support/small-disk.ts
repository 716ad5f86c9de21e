import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, rmdirSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MEBIBYTE = 1024 * 1024;

/** A file system of its own, in memory; `null` where this user may not mount one. */
export const smallDisk = (mebibytes: number): string | null => {
  const folder = mkdtempSync(join(tmpdir(), 'small-disk-'));
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m,mode=755`, 'tmpfs', folder], {
      stdio: 'ignore',
    });
    return folder;
  } catch {
    rmdirSync(folder);
    return null;
  }
};

export const removeDisk = (folder: string): void => {
  execFileSync('umount', ['-l', folder]);
  rmSync(folder, { recursive: true, force: true });
};

/** Appends that many bytes to a file, or as many as there is room for. */
export const fill = (path: string, bytes: number): void => {
  const file = openSync(path, 'a');
  try {
    for (let left = bytes; left > 0; left -= MEBIBYTE)
      writeSync(file, Buffer.alloc(Math.min(left, MEBIBYTE)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOSPC') throw error;
  } finally {
    closeSync(file);
  }
};
