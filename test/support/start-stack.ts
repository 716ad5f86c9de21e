import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { programPath } from '@app/platform/program-path.js';
import { OpsProcess } from './ops-process.js';
import type { OpsAnswer } from './companion-server.js';
import { ADMINISTRATOR } from '../../apps/embedded/src/postgres/cluster.js';
import { readJson } from '../../apps/embedded/src/private-file.js';
import { identify, isRunning } from '../../apps/embedded/src/process-identity.js';
import { removeDataFolder } from './data-dir.js';
import { assertObserved, observeContract } from './observe-contract.js';
import { PATIENT } from './patience.js';
import { preparedDataDir } from './prepared-data-dir.js';

const READY_WITHIN_MS = 180_000;
const POLL_MS = 25;

type ChildName = 'postgres' | 'event-store' | 'api' | 'worker';

export interface StartedStack {
  readonly baseUrl: string;
  /** Connects as the superuser, for tests that inspect or damage the database. */
  readonly databaseUrl: string;
  /** The URL that the processes of the stack use. */
  readonly applicationDatabaseUrl: string;
  readonly eventStoreUrl: string;
  readonly dataDir: string;
  /** The current process ids. A killed child restarts with another. */
  pids(): Readonly<Record<ChildName | 'main', number>>;
  /** Runs `ops <args> --json` on this stack. @throws Error with the command's message */
  ops(args: readonly string[]): Promise<unknown>;
  /** Runs `ops <args>` with these settings besides those of the stack. @returns its output and exit code */
  runOps(args: readonly string[], settings?: NodeJS.ProcessEnv): Promise<OpsAnswer>;
  /** Sends SIGTERM, as an operator would, and deletes a temporary data folder. @returns the exit code */
  stop(): Promise<number | null>;
  /** Sends SIGKILL to every process at once, like a power cut. The data stays, for `startStack({ dataDir })`. */
  killAll(): Promise<void>;
  /** The output of the stack so far, both streams. */
  output(): string;
}

export interface StackStart {
  /** Settings of the service that differ from their defaults. */
  readonly env?: Readonly<Record<string, string>>;
  /** Kept at the end. Default: a temporary folder, which `stop` deletes. */
  readonly dataDir?: string;
}

/** Limits too high to affect a test. Tests of the limits set their own. */
const UNLIMITED = Object.fromEntries(
  [
    'RATE_READ_PER_MINUTE',
    'RATE_READ_BURST',
    'RATE_CREATE_PER_MINUTE',
    'RATE_CREATE_BURST',
    'RATE_MANAGE_PER_MINUTE',
    'RATE_MANAGE_BURST',
    'RATE_UNAUTHENTICATED_PER_MINUTE',
    'RATE_PUBLIC_PER_MINUTE',
    'RATE_PUBLIC_BURST',
    'RATE_PROBE_PER_MINUTE',
    'RATE_PROBE_BURST',
    'HTTP_CONNECTIONS_PER_ADDRESS',
    'READINGS_IN_FLIGHT',
  ].map((name) => [name, '1000000']),
);

/**
 * Starts the compiled embedded stack on free ports, as `npm start` does, without a demo workspace. Every answer that a
 * test fetches from it is checked against the OpenAPI document.
 */
export const startStack = async ({ env = {}, dataDir }: StackStart = {}): Promise<StartedStack> => {
  const folder = dataDir ?? (await preparedDataDir());
  const main = spawn(process.execPath, [programPath('embedded')], {
    env: {
      ...process.env,
      PORT: '0',
      EMBEDDED_SKIP_DEMO_WORKSPACE: '1',
      EXIT_WITH_PARENT: '1',
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

  const runtime = await becomesReady(main, folder, () => printed);
  observeContract(runtime.baseUrl);
  const pids = () => (readRuntime(folder) ?? runtime).pids;
  const ops = new OpsProcess({ ...process.env, DATA_DIR: folder });
  return {
    baseUrl: runtime.baseUrl,
    databaseUrl: asSuperuser(folder, runtime.DATABASE_URL),
    applicationDatabaseUrl: runtime.DATABASE_URL,
    eventStoreUrl: runtime.EVENTSTORE_URL,
    dataDir: folder,
    pids,
    ops: (args) => ops.json(args),
    runOps: (args, settings) => ops.run(args, settings),
    output: () => printed,
    stop: async () => {
      ops.stop();
      main.kill('SIGTERM');
      const code = await exited;
      if (dataDir === undefined) removeDataFolder(folder);
      await assertObserved();
      return code;
    },
    killAll: async () => {
      const { main: mainPid, ...children } = pids();
      // The parent first, or it would restart a child in between.
      const doomed = [mainPid, ...Object.values(children)].flatMap((pid) => identify(pid) ?? []);
      ops.stop();
      for (const { pid } of doomed) process.kill(pid, 'SIGKILL');
      while (doomed.some(isRunning)) await sleep(POLL_MS);
    },
  };
};

interface Runtime {
  readonly baseUrl: string;
  readonly DATABASE_URL: string;
  readonly EVENTSTORE_URL: string;
  readonly pids: Readonly<Record<ChildName | 'main', number>>;
}

/** Only the folder's secrets and the first process have the superuser's password. */
const asSuperuser = (folder: string, databaseUrl: string): string => {
  const { POSTGRES_PASSWORD } = readJson(join(folder, 'secrets.json')) as { POSTGRES_PASSWORD: string };
  const url = new URL(databaseUrl);
  url.username = ADMINISTRATOR;
  url.password = POSTGRES_PASSWORD;
  return url.href;
};

const readRuntime = (folder: string): Runtime | undefined =>
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
