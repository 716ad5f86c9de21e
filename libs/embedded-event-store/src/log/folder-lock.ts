import { execFileSync } from 'node:child_process';
import { readFileSync, linkSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UnusableDataError } from './environment.js';

/** Identifies a process across restarts. A process id alone may belong to another program later. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time as reported by the system; opaque, for comparison only. */
  readonly startedAt: string;
}

/** @returns the running process with this id, or undefined if it does not exist or is a zombie */
export const identify = (pid: number): ProcessIdentity | undefined => {
  const startedAt = process.platform === 'linux' ? startFromProc(pid) : startFromPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
};

export const isRunning = (identity: ProcessIdentity): boolean =>
  identify(identity.pid)?.startedAt === identity.startedAt;

const startFromProc = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field, the program name, may contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, startTicks] = [fields[0], fields[19]];
    if (state === 'Z' || state === 'X') return undefined;
    return `${bootId()}:${startTicks}`;
  } catch {
    return undefined;
  }
};

/** Start times count from boot, so they are only unique together with the boot id. */
const bootId = (): string => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();

const startFromPs = (pid: number): string | undefined => {
  try {
    const text = execFileSync('ps', ['-o', 'stat=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    const [state = '', ...start] = text.split(/\s+/);
    return text === '' || state.startsWith('Z') ? undefined : start.join(' ');
  } catch {
    return undefined;
  }
};

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
