import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { programPath } from '@app/platform/program-path.js';
import { OpsProcess } from './ops-process.js';
import {
  checkSettings,
  childEnvironment,
  withoutOperatorsSecrets,
} from '../../apps/embedded/src/child-environment.js';
import { openDataFolder } from '../../apps/embedded/src/data-folder.js';
import { startEventStore } from '../../apps/embedded/src/event-store-process.js';
import { SERVICE_FLAGS } from '../../apps/embedded/src/node-service.js';
import { startPostgres } from '../../apps/embedded/src/postgres.js';
import { ProcessRecord } from '../../apps/embedded/src/process-record.js';
import { loadSecrets } from '../../apps/embedded/src/secrets.js';
import { removeDataFolder } from './data-dir.js';
import { PATIENT } from './patience.js';
import { preparedDataDir } from './prepared-data-dir.js';

const STOP_WITHIN_MS = 5_000;

export interface StartedProcess {
  /** The URL of an API; empty for a worker. */
  readonly baseUrl: string;
  readonly pid: number;
  /** Sends SIGTERM, as an operator would. Resolves with the exit code: 0 if it stopped in time. */
  stop(): Promise<number | null>;
}

/** One event store and one database, for any number of API and worker processes. */
export interface StartedStores {
  /** Connects as the superuser. */
  readonly databaseUrl: string;
  readonly eventStoreUrl: string;
  /** Environment of its processes and of the operator's commands. */
  readonly environment: NodeJS.ProcessEnv;
  ops(args: readonly string[]): Promise<unknown>;
  start(name: 'api' | 'worker', settings?: Readonly<Record<string, string>>): Promise<StartedProcess>;
  stop(): Promise<void>;
}

export const startStores = async (settings: Readonly<Record<string, string>>): Promise<StartedStores> => {
  const folder = openDataFolder(await preparedDataDir());
  const secrets = loadSecrets(folder);
  const record = new ProcessRecord(folder.processes);
  const events = { say: () => undefined, onRestart: () => undefined, onGivenUp: () => undefined };
  checkSettings(settings, secrets);
  const [postgres, eventStore] = await Promise.all([
    startPostgres(folder, secrets.POSTGRES_PASSWORD, record, events, () => undefined),
    startEventStore(
      { folder, record, events, adopt: () => undefined },
      process.env['TEST_EVENT_STORE_COMMAND'],
    ),
  ]);
  const connections = {
    DATABASE_URL: postgres.urls.application,
    DATABASE_OWNER_URL: postgres.urls.owner,
    EVENTSTORE_URL: eventStore.url,
  };
  const environment = childEnvironment({ ...process.env, ...PATIENT, ...settings }, secrets, connections);
  const ops = new OpsProcess(environment);
  return {
    databaseUrl: postgres.urls.admin,
    eventStoreUrl: eventStore.url,
    environment,
    ops: (args) => ops.json(args),
    start: (name, own = {}) =>
      startProcess(name, {
        ...withoutOperatorsSecrets(environment),
        PORT: '0',
        EXIT_WITH_PARENT: '1',
        ...own,
      }),
    stop: async () => {
      ops.stop();
      await eventStore.supervisor.stop(STOP_WITHIN_MS);
      await postgres.supervisor.stop(STOP_WITHIN_MS);
      removeDataFolder(folder.path);
    },
  };
};

/** Starts a process with exactly this environment, and waits until it listens or works. */
export const startProcess = async (
  name: 'api' | 'worker',
  environment: NodeJS.ProcessEnv,
): Promise<StartedProcess> => {
  const child = spawn(process.execPath, [...SERVICE_FLAGS, programPath(name)], {
    env: environment,
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  const { port } = await announced(child, name);
  return {
    pid: child.pid!,
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
