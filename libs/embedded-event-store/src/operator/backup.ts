import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { UnusableDataError } from '../log/environment.js';
import { LogStore } from '../log/log-store.js';
import { syncFile, syncFolder } from './durable-files.js';
import type { Progress } from './progress.js';
import { verifyFolder, type Verification } from './verify.js';

/**
 * Copies a store into a new folder that can be served as is, and verifies the copy. The server may continue
 * to write, because the copy is one durable state. The folder gets its final name once the copy is complete
 * and synced.
 * @throws {UnusableDataError} when there is no store or the target is a non-empty folder
 */
export const backUpFolder = async (from: string, to: string, progress: Progress): Promise<Verification> => {
  const target = resolve(to);
  if (existsSync(target) && readdirSync(target).length > 0) {
    throw new UnusableDataError(`The folder ${to} is not empty: choose a new folder for the backup.`);
  }
  const store = await LogStore.inspect(from);
  const unfinished = `${target}.unfinished`;
  try {
    rmSync(unfinished, { recursive: true, force: true });
    mkdirSync(join(unfinished, 'data'), { recursive: true });
    await store.copyTo(join(unfinished, 'data'));
    syncFile(join(unfinished, 'data', 'data.mdb'));
    syncFolder(join(unfinished, 'data'));
  } finally {
    await store.close();
  }
  const verification = await verifyFolder(unfinished, progress);
  renameSync(unfinished, target);
  syncFolder(dirname(target));
  return verification;
};
