import { readFileSync, readdirSync } from 'node:fs';

/** Clock ticks per second of /proc/<pid>/stat on Linux. */
const TICKS_PER_SECOND = 100;

interface Usage {
  readonly parent: number;
  readonly milliseconds: number;
}

const readUsage = (pid: number): Usage | null => {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [user, system, reapedUser, reapedSystem] = [fields[11]!, fields[12]!, fields[13]!, fields[14]!];
    return {
      parent: fields[1]!,
      milliseconds: ((user + system + reapedUser + reapedSystem) * 1_000) / TICKS_PER_SECOND,
    };
  } catch {
    return null;
  }
};

/** CPU time used so far by a process and its living descendants, milliseconds (Linux only). */
export const cpuMilliseconds = (root: number): number => {
  const usages = new Map<number, Usage>();
  for (const name of readdirSync('/proc')) {
    const usage = /^\d+$/.test(name) ? readUsage(Number(name)) : null;
    if (usage) usages.set(Number(name), usage);
  }
  const total = (pid: number): number => {
    let sum = usages.get(pid)?.milliseconds ?? 0;
    for (const [child, { parent }] of usages) if (parent === pid) sum += total(child);
    return sum;
  };
  return total(root);
};
