import { linkSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { identify, isRunning, type ProcessIdentity } from './process-identity.js';
import { readJson } from './private-file.js';
import { hasCode, StackError } from './stack-error.js';

/**
 * Takes the lock of a data folder for this process. The lock of a process that was killed is recognised and taken
 * over.
 * @returns a function that gives it back.
 * @throws StackError when a living process holds it.
 */
export const takeLock = (path: string, folder: string): (() => void) => {
  const own = `${path}.${process.pid}`;
  writeFileSync(own, JSON.stringify(identify(process.pid)), { mode: 0o600 });
  try {
    for (let attempt = 0; attempt < 3; attempt++) {
      try {
        // A hard link fails when the name exists, and appears with its content in one step.
        linkSync(own, path);
        return () => rmSync(path, { force: true });
      } catch (error) {
        if (!hasCode(error, 'EEXIST')) throw error;
      }
      const holder = readHolder(path);
      if (holder && isRunning(holder)) {
        throw new StackError(
          `Already running on ${folder} (process ${holder.pid}). Stop it first, or choose another DATA_DIR.`,
        );
      }
      setAside(path, `${own}.stale`);
    }
    throw new StackError(`Another start is taking ${folder} at this moment.`);
  } finally {
    rmSync(own, { force: true });
  }
};

/** Moves a dead lock away; if another start put a living one there in between, it is put back. */
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
