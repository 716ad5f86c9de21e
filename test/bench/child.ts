import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { projectPath } from '#platform/project-path.js';
import { SERVICE_FLAGS } from '../../apps/embedded/src/launched.js';

export interface Child {
  readonly process: ChildProcess;
  /** The first line that it printed: JSON. */
  readonly line: string;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts a program in a process of its own, which ends with this one, and waits for its first line. */
export const startNode = async (
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<Child> => {
  const child = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'], env });
  const exited = once(child, 'exit');
  const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
  return {
    process: child,
    line,
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
