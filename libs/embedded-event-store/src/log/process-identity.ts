import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/** A process as it is written down: an id alone may be another program's by the time it is read. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, as the system tells it; opaque, only compared. */
  readonly startedAt: string;
}

/** @returns the running process with this id, or undefined if there is none or it is a zombie. */
export const identify = (pid: number): ProcessIdentity | undefined => {
  const startedAt = process.platform === 'linux' ? startFromProc(pid) : startFromPs(pid);
  return startedAt === undefined ? undefined : { pid, startedAt };
};

export const isRunning = (identity: ProcessIdentity): boolean =>
  identify(identity.pid)?.startedAt === identity.startedAt;

const startFromProc = (pid: number): string | undefined => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    // The second field, the program's name, may itself contain spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state, startTicks] = [fields[0], fields[19]];
    if (state === 'Z' || state === 'X') return undefined;
    return `${bootId()}:${startTicks}`;
  } catch {
    return undefined;
  }
};

/** Start times count from boot, so they repeat after a restart of the machine. */
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
