import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UnusableDataError } from '../log/environment.js';
import { lookAt } from '../log/look-at.js';
import { verifyFolder, type Verification } from './verify.js';

/**
 * Copies a store into a new folder that can be served as is, and verifies the copy. The server may continue
 * to write, because the copy is one durable state. The folder gets its final name once the copy is complete
 * and synced.
 * @param includes position of an acknowledged event: a copy without it is not one
 * @throws {UnusableDataError} when there is no store, the target is a non-empty folder, or the copy lacks that event; then
 *   no copy is left
 */
export const backUpFolder = async (
  from: string,
  to: string,
  includes: bigint | null = null,
): Promise<Verification> => {
  const target = resolve(to);
  if (existsSync(target) && readdirSync(target).length > 0) {
    throw new UnusableDataError(`The folder ${to} is not empty: choose a new folder for the backup.`);
  }
  mkdirSync(dirname(target), { recursive: true });
  // Of this run alone: another one may have the same target.
  const unfinished = mkdtempSync(`${target}.unfinished-`);
  try {
    await copyFolder(from, unfinished);
    const verification = await verifyFolder(unfinished);
    if (includes !== null && !(await lookAt(unfinished, (copy) => copy.isFound(includes))))
      throw new UnusableDataError(
        `The copy of ${from} lacks the event at position ${includes}: it is no backup.`,
      );
    giveName(unfinished, target);
    return verification;
  } catch (error) {
    rmSync(unfinished, { recursive: true, force: true });
    throw error;
  }
};

/** @throws {UnusableDataError} when the target has got content meanwhile, such as the copy of another run */
const giveName = (unfinished: string, target: string): void => {
  try {
    renameSync(unfinished, target);
  } catch (error) {
    if (!['ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error;
    throw new UnusableDataError(`${target} was filled meanwhile, as by another backup: choose a new folder.`);
  }
  syncFile(dirname(target));
};

const copyFolder = (from: string, to: string): Promise<void> =>
  lookAt(from, async (store) => {
    rmSync(to, { recursive: true, force: true });
    mkdirSync(join(to, 'data'), { recursive: true });
    await store.copyTo(join(to, 'data'));
    syncFile(join(to, 'data', 'data.mdb'));
    syncFile(join(to, 'data'));
  });

/** Makes a file's content durable, or the names in a folder, for example after a rename. */
const syncFile = (path: string): void => {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
};
