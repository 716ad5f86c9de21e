import { readFileSync } from 'node:fs';

/** The most memory that a living process has had so far, MiB (Linux only). 0 when it has ended. */
export const peakMiB = (pid: number): number => {
  try {
    const [, kibibytes = '0'] =
      /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kibibytes) / 1_024;
  } catch {
    return 0;
  }
};
