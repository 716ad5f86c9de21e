import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { UnusableDataError } from './environment.js';

/** Who holds a folder: a process id alone can be another program's by now, so its start time goes with it. */
interface Holder {
  readonly pid: number;
  readonly startedAt: string;
}

/** When a process started, as the system tells it, or undefined if no such process runs. */
const processStart = (pid: number): string | undefined => {
  try {
    // Field 22 of /proc/<pid>/stat, clock ticks since boot; the second field may contain spaces.
    const stat = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    const boot = readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
    return `${boot}:${stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? ''}`;
  } catch {
    return processStartFromPs(pid);
  }
};

const processStartFromPs = (pid: number): string | undefined => {
  if (process.platform === 'linux' || process.platform === 'win32') return undefined;
  try {
    const text = execFileSync('ps', ['-o', 'lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
    return text === '' ? undefined : text;
  } catch {
    return undefined;
  }
};

const readHolder = (path: string): Holder | undefined => {
  try {
    const parsed = JSON.parse(readFileSync(path, 'utf8')) as Partial<Holder>;
    if (typeof parsed.pid !== 'number' || typeof parsed.startedAt !== 'string') return undefined;
    return { pid: parsed.pid, startedAt: parsed.startedAt };
  } catch {
    return undefined;
  }
};

const isAlive = (holder: Holder): boolean => processStart(holder.pid) === holder.startedAt;

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
  const startedAt = processStart(process.pid) ?? 'unknown';
  writeFileSync(own, JSON.stringify({ pid: process.pid, startedAt } satisfies Holder));
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
      if (holder && isAlive(holder)) {
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
const removeStale = (path: string, aside: string, stale: Holder | undefined): void => {
  try {
    renameSync(path, aside);
  } catch {
    return;
  }
  const moved = readHolder(aside);
  if (moved && moved.pid !== stale?.pid && isAlive(moved)) {
    try {
      linkSync(aside, path);
    } catch (error) {
      if (!isTaken(error)) throw error;
    }
  }
  rmSync(aside, { force: true });
};
