import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

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
