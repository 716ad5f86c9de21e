import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { identify, isRunning, type ProcessIdentity } from './processes.js';
import { readJson } from './private-file.js';
import { hasCode, StackError } from './stack-error.js';

/**
 * Locks a data folder for this process. Takes over the lock of a killed process.
 * @returns a function that releases the lock
 * @throws StackError when a running process holds it
 */
export const takeLock = (path: string, folder: string): (() => void) => {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, JSON.stringify(identify(process.pid)), { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        // Linking is atomic: it fails if the name exists, and the new name has its full content at once.
        linkSync(own, path);
        return () => rmSync(path, { force: true });
      } catch (error) {
        if (!hasCode(error, 'EEXIST')) throw error;
      }
      const holder = readHolder(path);
      if (holder && isRunning(holder))
        throw new StackError(
          `Already running on ${folder} (process ${holder.pid}). Stop it first, or choose another DATA_DIR.`,
        );
      setAside(path, `${own}.stale`);
    }
    throw new StackError(`Another process is starting on ${folder}.`);
  } finally {
    rmSync(own, { force: true });
  }
};

/**
 * Moves a dead process's lock aside. If another start has put its own lock there meanwhile, moves that one
 * back.
 */
const setAside = (path: string, aside: string): void => {
  try {
    renameSync(path, aside);
    const moved = readHolder(aside);
    if (moved && isRunning(moved)) linkSync(aside, path);
  } catch (error) {
    if (!hasCode(error, 'ENOENT', 'EEXIST')) throw error;
  } finally {
    rmSync(aside, { force: true });
  }
};

const readHolder = (path: string): ProcessIdentity | undefined => {
  const holder = readJson(path) as Partial<ProcessIdentity> | undefined;
  return typeof holder?.pid === 'number' && typeof holder.startedAt === 'string'
    ? { pid: holder.pid, startedAt: holder.startedAt }
    : undefined;
};
