import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { programPath } from '#platform/program-path.js';
import { readJson } from '../../apps/embedded/src/data-folder.js';
import { PATIENT } from './patience.js';

const READY_WITHIN_MS = 400_000;
const POLL_MS = 25;

/** The companion replaces the environment for each command that it runs. */
const INHERITED = { ...process.env };

export type ChildName = 'postgres' | 'event-store' | 'api' | 'worker';

/** Limits too high to affect a test. Tests of the limits set their own. */
const UNLIMITED = Object.fromEntries(
  [
    'RATE_READ_PER_MINUTE',
    'RATE_CREATE_PER_MINUTE',
    'RATE_MANAGE_PER_MINUTE',
    'RATE_PUBLIC_PER_MINUTE',
    'READINGS_IN_FLIGHT',
  ].map((name) => [name, '1000000']),
);

/** What a running stack says of itself in its data folder. */
export interface Runtime {
  readonly baseUrl: string;
  readonly DATABASE_URL: string;
  readonly EVENTSTORE_URL: string;
  readonly pids: Readonly<Record<ChildName | 'main', number>>;
}

export interface StackProcess {
  readonly runtime: Runtime;
  /** The output so far, both streams. */
  output(): string;
  /** Sends SIGTERM, as an operator would. @returns the exit code */
  stop(): Promise<number | null>;
}

/**
 * Starts the compiled embedded stack on free ports, as `npm start` does, without a demo workspace. It ends with this
 * process.
 */
export const startStackProcess = async (
  folder: string,
  env: Readonly<Record<string, string>>,
): Promise<StackProcess> => {
  const main = spawn(process.execPath, [programPath('embedded')], {
    env: {
      ...INHERITED,
      PORT: '0',
      EMBEDDED_SKIP_DEMO_WORKSPACE: '1',
      EXIT_WITH_PARENT: '1',
      // Every suite can run on a real EventStoreDB.
      EMBEDDED_EVENT_STORE_COMMAND: INHERITED['TEST_EVENT_STORE_COMMAND'],
      DATA_DIR: folder,
      ...UNLIMITED,
      ...PATIENT,
      ...env,
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [main.stdout, main.stderr])
    stream.on('data', (text: Buffer) => (printed += text.toString()));
  const exited = new Promise<number | null>((resolve) => main.once('exit', resolve));
  return {
    runtime: await becomesReady(main, folder, () => printed),
    output: () => printed,
    stop: () => {
      main.kill('SIGTERM');
      return exited;
    },
  };
};

export const readRuntime = (folder: string): Runtime | undefined =>
  readJson(join(folder, 'runtime.json')) as Runtime | undefined;

const becomesReady = async (main: ChildProcess, folder: string, printed: () => string): Promise<Runtime> => {
  const deadline = Date.now() + READY_WITHIN_MS;
  while (main.exitCode === null && main.signalCode === null && Date.now() < deadline) {
    const runtime = readRuntime(folder);
    // A killed stack leaves its file behind.
    if (runtime && runtime.pids.main === main.pid) return runtime;
    await sleep(POLL_MS);
  }
  main.kill('SIGTERM');
  throw new Error(`The stack did not start:\n${printed()}`);
};
