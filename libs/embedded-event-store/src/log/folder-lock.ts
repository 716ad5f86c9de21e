import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UnusableDataError } from './environment.js';
import { identify, isRunning, type ProcessIdentity } from './process-identity.js';

const readHolder = (path: string): ProcessIdentity | undefined => {
  try {
    const parsed = JSON.parse(readFileSync(path, 'utf8')) as Partial<ProcessIdentity>;
    if (typeof parsed.pid !== 'number' || typeof parsed.startedAt !== 'string') return undefined;
    return { pid: parsed.pid, startedAt: parsed.startedAt };
  } catch {
    return undefined;
  }
};

/** The running server that holds a data folder, if any. */
export const holderOf = (folder: string): ProcessIdentity | undefined => {
  const holder = readHolder(join(folder, 'server.lock'));
  return holder && isRunning(holder) ? holder : undefined;
};

const isTaken = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EEXIST';

/**
 * Locks a data folder for this process, so that two servers never write to the same folder. Takes over the
 * lock of a killed process.
 * @returns a function that unlocks the folder
 * @throws {UnusableDataError} when a running process holds the folder
 */
export const lockFolder = (folder: string): (() => void) => {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'server.lock');
  const own = join(folder, `server.lock.${String(process.pid)}.${String(Date.now())}`);
  const holder = identify(process.pid) ?? { pid: process.pid, startedAt: 'unknown' };
  writeFileSync(own, JSON.stringify(holder satisfies ProcessIdentity), { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        // Linking is atomic: it fails if the name exists, and the new name has its full content at once.
        linkSync(own, path);
        return () => rmSync(path, { force: true });
      } catch (error) {
        if (!isTaken(error)) throw error;
      }
      const holder = readHolder(path);
      if (holder && isRunning(holder)) {
        throw new UnusableDataError(
          `The data folder ${folder} is in use by the event store with process id ${String(holder.pid)}.`,
        );
      }
      removeStale(path, `${own}.stale`, holder);
    }
    throw new UnusableDataError(`Another process is locking the data folder ${folder}; try again.`);
  } finally {
    rmSync(own, { force: true });
  }
};

/**
 * Moves a dead process's lock aside. If another start has put its own lock there meanwhile, moves that one
 * back.
 */
const removeStale = (path: string, aside: string, stale: ProcessIdentity | undefined): void => {
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  const moved = readHolder(aside);
  if (moved && moved.pid !== stale?.pid && isRunning(moved)) {
    try {
      linkSync(aside, path);
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
  }
  rmSync(aside, { force: true });
};
