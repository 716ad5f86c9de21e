import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { programPath } from '#platform/program-path.js';
import { readJson } from '../../apps/embedded/src/data-folder.js';
import { observeContract } from './observe-contract.js';
import { PATIENT } from './patience.js';
import type { Stack } from './start-stack.js';
import { SERVICE_FLAGS } from '../../apps/embedded/src/processes.js';

export interface StartedProcess {
  /** The URL of an API; empty for a worker. */
  readonly baseUrl: string;
  readonly pid: number;
  /** How it ended; `null` while it runs. */
  ended(): string | null;
  /** Sends SIGTERM, as an operator would. Resolves with the exit code: 0 if it stopped in time. */
  stop(): Promise<number | null>;
}

/**
 * Starts a process with exactly this environment, and waits until it listens or works.
 * @param program the built program, of this or another version; default: of this one
 */
export const startProcess = async (
  name: 'api' | 'worker',
  environment: NodeJS.ProcessEnv,
  program = programPath(name),
): Promise<StartedProcess> => {
  const child = spawn(process.execPath, [...SERVICE_FLAGS, program], {
    env: environment,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const log = process.env['TEST_LOGS'];
  if (log !== undefined) child.stdout.pipe(createWriteStream(join(log, `${name}-${child.pid}.log`)));
  const { port } = await announced(child, name);
  return {
    pid: child.pid!,
    ended: () => child.signalCode ?? (child.exitCode === null ? null : `exit code ${child.exitCode}`),
    baseUrl: port === undefined ? '' : `http://127.0.0.1:${port}`,
    stop: async () => {
      child.kill('SIGTERM');
      return (await exited)[0];
    },
  };
};

const announced = async (child: ChildProcess, name: string): Promise<{ port?: number }> => {
  for await (const line of createInterface({ input: child.stdout! })) {
    if (!/^\{"event":"(listening|working)"/.test(line)) continue;
    child.stdout!.resume();
    return JSON.parse(line) as { port?: number };
  }
  throw new Error(`The ${name} ended before it was ready`);
};

/** Starts one more API process on the stores of a running stack, with the stack's settings and the given ones. */
export const startApi = async (
  stack: Pick<Stack, 'dataDir'>,
  own: Readonly<Record<string, string>> = {},
): Promise<StartedProcess> => {
  const { pids: _, ...settings } = readJson(join(stack.dataDir, 'runtime.json')) as Record<string, string>;
  const api = await startProcess('api', {
    ...process.env,
    ...settings,
    PORT: '0',
    EXIT_WITH_PARENT: '1',
    ...PATIENT,
    ...own,
  });
  observeContract(api.baseUrl);
  return api;
};
