import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';

/**
 * Whether a folder, or the one that a link leads to, is a mount point, which the system does not rename. A bind mount may
 * be on the file system of its parent: on Linux, only the kernel's list of mounts shows it.
 */
export const isMountPoint = (folder: string): boolean => {
  if (!existsSync(folder)) return false;
  const place = realpathSync(folder);
  return statSync(place).dev !== statSync(dirname(place)).dev || mountPoints().includes(place);
};

/** Paths of the mounts that this process sees; none where the system does not tell. */
const mountPoints = (): readonly string[] => {
  try {
    return pathsOf(readFileSync('/proc/self/mountinfo', 'utf8'));
  } catch {
    return [];
  }
};

/** The fifth field; spaces, tabs, line ends and backslashes are octal (proc_pid_mountinfo(5)). */
export const pathsOf = (mountinfo: string): readonly string[] =>
  mountinfo
    .split('\n')
    .flatMap((line) => line.split(' ')[4] ?? [])
    .map((path) =>
      path.replace(/\\([0-7]{3})/g, (_, octal: string) => String.fromCharCode(parseInt(octal, 8))),
    );
