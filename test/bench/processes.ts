import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { projectPath } from '#platform/project-path.js';
import { SERVICE_FLAGS, EVENT_STORE_FLAGS } from '../../apps/embedded/src/processes.js';
import { programPath } from '#platform/program-path.js';
import { readFileSync, readdirSync } from 'node:fs';

export interface Child {
  readonly process: ChildProcess;
  /** The first line that it printed: JSON. */
  readonly line: string;
  /** Another one. */
  nextLine(): Promise<string>;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts a program in a process of its own, which ends with this one, and waits for its first line. */
export const startNode = async (
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Child> => {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], env });
  const exited = once(child, 'exit');
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const nextLine = async (): Promise<string> => (await lines.next()).value as string;
  const line = await nextLine();
  return {
    process: child,
    line,
    nextLine,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      await exited;
    },
  };
};

/** Starts a program of the benchmarks with the flags of the service. @param program below test/bench, as `crud/api` */
export const startChild = (
  program: string,
  args: readonly string[] = [],
  env?: NodeJS.ProcessEnv,
): Promise<Child> =>
  startNode([...SERVICE_FLAGS, projectPath('dist/test/bench', `${program}.js`), ...args], env);

export interface ServedStore {
  readonly port: number;
  /** `esdb://…` */
  readonly url: string;
  readonly pid: number;
  stop(): Promise<void>;
}

/** Starts the embedded event store in a separate process, as the stack does, without TLS and login. */
export const serveStore = async (dataDir: string): Promise<ServedStore> => {
  const args = ['--data', dataDir, '--port', '0', '--exit-with-parent'];
  const { line, stop } = await startNode([
    ...EVENT_STORE_FLAGS,
    programPath('embedded-event-store'),
    ...args,
  ]);
  const { port, pid } = JSON.parse(line) as { port: number; pid: number };
  return { port, url: `esdb://127.0.0.1:${port}?tls=false`, pid, stop: () => stop() };
};

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

/** Memory of a living process, MiB (Linux only): what is resident, or the most that ever was. 0 when it has ended. */
export const memoryMiB = (pid: number, figure: 'VmRSS' | 'VmHWM' = 'VmRSS'): number => {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(new RegExp(`^${figure}:\\s+(\\d+) kB$`, 'm').exec(status)?.[1]) / 1_024;
  } catch {
    return 0;
  }
};
