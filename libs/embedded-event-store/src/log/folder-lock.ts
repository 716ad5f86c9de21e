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

/** The living server that holds a data folder, if there is one. */
export const holderOf = (folder: string): ProcessIdentity | undefined => {
  const holder = readHolder(join(folder, 'server.lock'));
  return holder && isRunning(holder) ? holder : undefined;
};

const isTaken = (error: unknown): boolean => (error as NodeJS.ErrnoException).code === 'EEXIST';

/**
 * Takes a data folder for this process, so that two servers never write one folder. The lock of a process that
 * was killed is recognised and taken over.
 * @returns a function that gives the folder back.
 * @throws {UnusableDataError} when a living process holds the folder.
 */
export const lockFolder = (folder: string): (() => void) => {
  mkdirSync(folder, { recursive: true });
  const path = join(folder, 'server.lock');
  const own = join(folder, `server.lock.${String(process.pid)}.${String(Date.now())}`);
  const holder = identify(process.pid) ?? { pid: process.pid, startedAt: 'unknown' };
  writeFileSync(own, JSON.stringify(holder satisfies ProcessIdentity));
  try {
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        // A hard link fails when the name exists, and appears with its content in one step.
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
    throw new UnusableDataError(`The data folder ${folder} is being taken by another process; try again.`);
  } finally {
    rmSync(own, { force: true });
  }
};

/** Moves a dead process's lock away; if another starter put a living one there meanwhile, it is put back. */
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
