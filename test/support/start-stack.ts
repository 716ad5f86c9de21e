import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { ADMINISTRATOR } from '../../apps/embedded/src/postgres.js';
import { readJson } from '../../apps/embedded/src/data-folder.js';
import { identify, isRunning } from '#embedded-event-store/log/folder-lock.js';
import { askCompanion } from './companion.js';
import type { OpsAnswer } from './companion-server.js';
import { removeDataFolder } from './data-dir.js';
import { assertObserved, observeContract } from './observe-contract.js';
import { OpsProcess } from './ops-process.js';
import { preparedDataDir } from './prepared-data-dir.js';
import { readRuntime, startStackProcess, type ChildName, type Runtime } from './stack-process.js';

const POLL_MS = 25;

/** What `ops doctor` says of one check. */
export interface Finding {
  readonly check: string;
  readonly level: string;
  readonly message: string;
  readonly advice: string;
  readonly cause?: string;
}

interface Readiness {
  readonly checks: Readonly<Record<string, boolean>>;
  readonly causes: Readonly<Record<string, string>>;
}

/** A running stack, as specs use it. */
export interface Stack {
  readonly baseUrl: string;
  /** Connects as the superuser, for tests that inspect or damage the database. */
  readonly databaseUrl: string;
  /** The URL that the processes of the stack use. */
  readonly applicationDatabaseUrl: string;
  readonly eventStoreUrl: string;
  readonly dataDir: string;
  /** The current process ids. A killed child restarts with another. */
  pids(): Readonly<Record<ChildName | 'main', number>>;
  /** Runs `ops <args> --json` with these settings besides those of the stack. @throws Error with the command's message */
  ops(args: readonly string[], settings?: NodeJS.ProcessEnv): Promise<unknown>;
  /** Runs `ops <args>` with these settings besides those of the stack. @returns its output and exit code */
  runOps(args: readonly string[], settings?: NodeJS.ProcessEnv): Promise<OpsAnswer>;
  /** Runs `ops <args> --json`, which may fail. @returns its output and exit code */
  report<T extends object = Record<string, unknown>>(
    args: readonly string[],
    settings?: NodeJS.ProcessEnv,
  ): Promise<T & { readonly code: number }>;
  /** What `ops doctor` finds. */
  doctor(settings?: NodeJS.ProcessEnv): Promise<readonly Finding[]>;
  /** Runs one statement as the superuser, as somebody would who damages the database by hand. @returns its rows */
  query<T extends pg.QueryResultRow>(text: string, values?: readonly unknown[]): Promise<readonly T[]>;
  /** What GET /readyz answers. */
  ready(): Promise<{ readonly status: number; readonly body: Readiness }>;
  /** This spec needs it no more. */
  stop(): Promise<unknown>;
}

/** A stack of one spec. */
export interface StartedStack extends Stack {
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

/** Starts a stack of its own. Every answer that a test fetches from it is checked against the OpenAPI document. */
export const startStack = async ({ env = {}, dataDir }: StackStart = {}): Promise<StartedStack> => {
  const folder = dataDir ?? (await preparedDataDir());
  const started = await startStackProcess(folder, env);
  const stack = attach(folder, started.runtime);
  return {
    ...stack,
    output: () => started.output(),
    stop: async () => {
      await stack.detach();
      const code = await started.stop();
      if (dataDir === undefined) removeDataFolder(folder);
      await assertObserved();
      return code;
    },
    killAll: async () => {
      const { main: mainPid, ...children } = stack.pids();
      // The parent first, or it would restart a child in between.
      const doomed = [mainPid, ...Object.values(children)].flatMap((pid) => identify(pid) ?? []);
      await stack.detach();
      for (const { pid } of doomed) process.kill(pid, 'SIGKILL');
      while (doomed.some(isRunning)) await sleep(POLL_MS);
    },
  };
};

/**
 * The stack that the specs of this worker of the test runner share, which saves the 6 s of CPU of a start. For specs that
 * need no settings of their own and only look at their own workspaces. It takes webhooks to receivers on this machine.
 */
export const sharedStack = async (): Promise<Stack> => {
  const folder = await askCompanion('/stack', null);
  const stack = attach(folder, readRuntime(folder)!);
  return {
    ...stack,
    stop: async () => {
      await stack.detach();
      await askCompanion('/stack/release', null);
      await assertObserved();
    },
  };
};

const attach = (folder: string, runtime: Runtime) => {
  const { baseUrl } = runtime;
  observeContract(baseUrl);
  const ops = new OpsProcess({ ...process.env, DATA_DIR: folder });
  const databaseUrl = asSuperuser(folder, runtime.DATABASE_URL);
  const database = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  // A test may end the server.
  database.on('error', () => undefined);
  const report = async <T extends object>(args: readonly string[], settings?: NodeJS.ProcessEnv) => {
    const { code, stdout, stderr } = await ops.run([...args, '--json'], settings);
    if (stdout === '')
      throw new Error(`ops ${args.join(' ')} ended with ${code} and printed nothing: ${stderr}`);
    return { ...(JSON.parse(stdout) as T), code };
  };
  return {
    baseUrl,
    databaseUrl,
    applicationDatabaseUrl: runtime.DATABASE_URL,
    eventStoreUrl: runtime.EVENTSTORE_URL,
    dataDir: folder,
    pids: () => (readRuntime(folder) ?? runtime).pids,
    ops: (args: readonly string[], settings?: NodeJS.ProcessEnv) => ops.json(args, settings),
    runOps: (args: readonly string[], settings?: NodeJS.ProcessEnv) => ops.run(args, settings),
    report,
    doctor: async (settings?: NodeJS.ProcessEnv) =>
      (await report<{ findings: readonly Finding[] }>(['doctor'], settings)).findings,
    query: async <T extends pg.QueryResultRow>(text: string, values: readonly unknown[] = []) =>
      (await database.query<T>(text, [...values])).rows,
    ready: async () => {
      const answer = await fetch(`${baseUrl}/readyz`);
      return { status: answer.status, body: (await answer.json()) as Readiness };
    },
    /** Ends what runs beside the stack. */
    detach: async () => {
      if (!database.ended) await database.end();
      ops.stop();
    },
  };
};

/** Only the folder's secrets and the first process have the superuser's password. */
const asSuperuser = (folder: string, databaseUrl: string): string => {
  const { POSTGRES_PASSWORD } = readJson(join(folder, 'secrets.json')) as { POSTGRES_PASSWORD: string };
  const url = new URL(databaseUrl);
  url.username = ADMINISTRATOR;
  url.password = POSTGRES_PASSWORD;
  return url.href;
};
