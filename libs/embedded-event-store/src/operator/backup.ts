import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UnusableDataError } from '../log/environment.js';
import { lookAt } from '../log/look-at.js';
import { syncFile, syncFolder } from './durable-files.js';
import type { Progress } from './progress.js';
import { verifyFolder, type Verification } from './verify.js';

/** Copies made at most while the copy has findings. */
const ATTEMPTS = 2;

/**
 * Copies a store into a new folder that can be served as is, and verifies the copy. The server may continue
 * to write, because the copy is one durable state. The folder gets its final name once the copy is complete
 * and synced.
 * @param includes position of an acknowledged event: a copy without it is not one
 * @throws {UnusableDataError} when there is no store, the target is a non-empty folder, or the copy lacks that event
 */
export const backUpFolder = async (
  from: string,
  to: string,
  progress: Progress,
  includes: bigint | null = null,
): Promise<Verification> => {
  const target = resolve(to);
  if (existsSync(target) && readdirSync(target).length > 0) {
    throw new UnusableDataError(`The folder ${to} is not empty: choose a new folder for the backup.`);
  }
  const unfinished = `${target}.unfinished`;
  for (let attempt = 1; ; attempt++) {
    await copyFolder(from, unfinished);
    const verification = await verifyFolder(unfinished, progress);
    if (verification.findings > 0 && attempt < ATTEMPTS) continue;
    if (includes !== null && !(await lookAt(unfinished, (copy) => copy.isFound(includes))))
      throw new UnusableDataError(
        `The copy of ${from} lacks the event at position ${includes}: it is no backup.`,
      );
    renameSync(unfinished, target);
    syncFolder(dirname(target));
    return verification;
  }
};

const copyFolder = (from: string, to: string): Promise<void> =>
  lookAt(from, async (store) => {
    rmSync(to, { recursive: true, force: true });
    mkdirSync(join(to, 'data'), { recursive: true });
    await store.copyTo(join(to, 'data'));
    syncFile(join(to, 'data', 'data.mdb'));
    syncFolder(join(to, 'data'));
  });
