import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { identify, isRunning, type ProcessIdentity } from '#embedded-event-store/log/folder-lock.js';
import { readJson, writePrivateJsonIfRoom } from './private-file.js';

export { identify, isRunning, type ProcessIdentity } from '#embedded-event-store/log/folder-lock.js';

/** The arguments a process was started with, joined by spaces; empty if the process does not exist. */
export const commandLine = (pid: number): string => {
  try {
    if (process.platform === 'linux')
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ');
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8' });
  } catch {
    return '';
  }
};

/** Ends a process: sends `signal`, then SIGKILL after `patienceMs`. Resolves when the process is gone. */
export const endProcess = async (
  identity: ProcessIdentity,
  signal: NodeJS.Signals,
  patienceMs: number,
): Promise<void> => {
  for (const next of [signal, 'SIGKILL'] as const) {
    if (!isRunning(identity)) return;
    try {
      process.kill(identity.pid, next);
    } catch {
      return;
    }
    for (let waited = 0; waited < patienceMs && isRunning(identity); waited += 25) await sleep(25);
  }
};

const ORPHAN_PATIENCE_MS = 4_000;

/** The children of this stack, on disk, so that a start after a crash can identify its orphans. */
export class ProcessRecord {
  private readonly children = new Map<string, ProcessIdentity>();

  constructor(private readonly path: string) {}

  add(name: string, pid: number): void {
    const identity = identify(pid);
    if (!identity) return;
    this.children.set(name, identity);
    this.save();
  }

  remove(name: string, pid: number): void {
    if (this.children.get(name)?.pid !== pid) return;
    this.children.delete(name);
    this.save();
  }

  pids(): Record<string, number> {
    return Object.fromEntries([...this.children].map(([name, { pid }]) => [name, pid]));
  }

  /** Ends what an earlier run recorded, if it is still the same process. */
  async endOrphans(): Promise<void> {
    const noted = Object.entries((readJson(this.path) ?? {}) as Record<string, ProcessIdentity>);
    await Promise.all(
      noted.map(([name, identity]) =>
        endProcess(identity, name === 'postgres' ? 'SIGINT' : 'SIGTERM', ORPHAN_PATIENCE_MS),
      ),
    );
    this.save();
  }

  private save(): void {
    writePrivateJsonIfRoom(this.path, Object.fromEntries(this.children));
  }
}
