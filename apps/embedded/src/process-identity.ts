import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isRunning, type ProcessIdentity } from '#embedded-event-store/log/process-identity.js';

export { identify, isRunning, type ProcessIdentity } from '#embedded-event-store/log/process-identity.js';

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
