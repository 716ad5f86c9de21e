import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { programPath } from '#platform/program-path.js';
import { SERVICE_FLAGS } from '../../apps/embedded/src/node-service.js';
import { readJson } from '../../apps/embedded/src/private-file.js';
import { observeContract } from './observe-contract.js';
import { PATIENT } from './patience.js';
import type { Stack } from './start-stack.js';

export interface StartedApi {
  readonly baseUrl: string;
  readonly pid: number;
  /** Resolves with the exit code once the process ends for any reason. */
  readonly exited: Promise<number | null>;
  /** Sends SIGTERM. Resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** Starts one more API process on the stores of a running stack, with the stack's settings and the given ones. */
export const startApi = async (
  stack: Stack,
  own: Readonly<Record<string, string>> = {},
): Promise<StartedApi> => {
  const runtime = readJson(join(stack.dataDir, 'runtime.json')) as Record<string, unknown>;
  const settings = Object.entries(runtime).filter(
    (one): one is [string, string] => typeof one[1] === 'string',
  );
  const child = spawn(process.execPath, [...SERVICE_FLAGS, programPath('api')], {
    env: {
      ...process.env,
      ...Object.fromEntries(settings),
      PORT: '0',
      EXIT_WITH_PARENT: '1',
      ...PATIENT,
      ...own,
    },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit').then(([code]) => code as number | null);
  const listening = (async () => {
    for await (const line of createInterface({ input: child.stdout })) {
      if (line.startsWith('{"event":"listening"')) return JSON.parse(line) as { port: number };
    }
    throw new Error('The API process ended before it listened');
  })();
  const { port } = await listening;
  child.stdout.resume();
  const baseUrl = `http://127.0.0.1:${port}`;
  observeContract(baseUrl);
  return {
    baseUrl,
    pid: child.pid!,
    exited,
    stop: async () => {
      child.kill('SIGTERM');
      return exited;
    },
  };
};
