import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { programPath } from '#platform/program-path.js';
import { OpsProcess } from './ops-process.js';
import {
  checkSettings,
  childEnvironment,
  withoutOperatorsSecrets,
} from '../../apps/embedded/src/child-environment.js';
import { openDataFolder, type DataFolder } from '../../apps/embedded/src/data-folder.js';
import { DiskRoom } from '../../apps/embedded/src/disk-room.js';
import { startEventStore } from '../../apps/embedded/src/event-store-process.js';
import { SERVICE_FLAGS } from '../../apps/embedded/src/node-service.js';
import { startPostgres } from '../../apps/embedded/src/postgres.js';
import { stockLog, type DatabaseUrls } from '../../apps/embedded/src/postgres/database.js';
import { ProcessRecord } from '../../apps/embedded/src/process-record.js';
import { loadSecrets, writeOperatorKeys } from '../../apps/embedded/src/secrets.js';
import { removeDataFolder } from './data-dir.js';
import { PATIENT } from './patience.js';
import { preparedDataDir } from './prepared-data-dir.js';

const STOP_WITHIN_MS = 5_000;
const MEBIBYTE = 1024 * 1024;

export interface StartedProcess {
  /** The URL of an API; empty for a worker. */
  readonly baseUrl: string;
  readonly pid: number;
  /** How it ended; `null` while it runs. */
  ended(): string | null;
  /** Sends SIGTERM, as an operator would. Resolves with the exit code: 0 if it stopped in time. */
  stop(): Promise<number | null>;
}

/** One event store and one database, for any number of API and worker processes. */
export interface StartedStores {
  /** Connects as the superuser. */
  readonly databaseUrl: string;
  readonly eventStoreUrl: string;
  /** With the keys of two operators. */
  readonly dataDir: string;
  /** Environment of its processes and of the operator's commands. */
  readonly environment: NodeJS.ProcessEnv;
  /** The current process ids of the stores: `postgres` and `event-store`. */
  pids(): Readonly<Record<string, number>>;
  ops(args: readonly string[]): Promise<unknown>;
  /** @param program the built program, of this or another version; default: of this one */
  start(
    name: 'api' | 'worker',
    settings?: Readonly<Record<string, string>>,
    program?: string,
  ): Promise<StartedProcess>;
  stop(): Promise<void>;
}

type ChildEvents = Parameters<typeof startPostgres>[3];

/** Starts the database of a data folder. */
export type StartDatabase = (
  folder: DataFolder,
  password: string,
  record: ProcessRecord,
  events: ChildEvents,
) => Promise<{ readonly urls: DatabaseUrls; stop(): Promise<void> }>;

/** The embedded database of the folder, migrated to this version. */
export const embeddedDatabase: StartDatabase = async (folder, password, record, events) => {
  const { urls, supervisor } = await startPostgres(folder, password, record, events, () => undefined);
  return { urls, stop: () => supervisor.stop(STOP_WITHIN_MS) };
};

export interface StoresStart {
  /** Kept, and its disk is watched as by the embedded stack. Default: a temporary folder. */
  readonly dataDir?: string;
  readonly startDatabase?: StartDatabase;
}

export const startStores = async (
  settings: Readonly<Record<string, string>>,
  { dataDir, startDatabase = embeddedDatabase }: StoresStart = {},
): Promise<StartedStores> => {
  const folder = openDataFolder(dataDir ?? (await preparedDataDir()));
  const secrets = loadSecrets(folder);
  writeOperatorKeys(folder, secrets);
  const record = new ProcessRecord(folder.processes);
  const config = checkSettings(settings, secrets);
  const known: { database?: DatabaseUrls } = {};
  const watched = {
    folder: folder.path,
    reserve: config.DISK_RESERVE_MIB * MEBIBYTE,
    say: () => undefined,
    onRoom: () => record.save(),
    onShort: async (free: number) => {
      if (known.database) await stockLog(known.database, free);
    },
  };
  // As the embedded stack does.
  const disk = dataDir === undefined ? null : new DiskRoom(watched);
  const events = {
    say: () => undefined,
    untilRoom: async () => (await disk?.untilRoom()) ?? false,
    onRestart: () => undefined,
    onGivenUp: () => undefined,
  };
  const [postgres, eventStore] = await Promise.all([
    startDatabase(folder, secrets.POSTGRES_PASSWORD, record, events),
    startEventStore(
      { folder, record, events, adopt: () => undefined },
      process.env['TEST_EVENT_STORE_COMMAND'],
    ),
  ]);
  known.database = postgres.urls;
  const connections = {
    DATABASE_URL: postgres.urls.application,
    DATABASE_OWNER_URL: postgres.urls.owner,
    EVENTSTORE_URL: eventStore.url,
  };
  const environment = childEnvironment({ ...process.env, ...PATIENT, ...settings }, secrets, connections);
  // The limits of a test are those of the service. A command has none that a slow machine reaches.
  const ops = new OpsProcess({ ...environment, ...PATIENT });
  return {
    databaseUrl: postgres.urls.admin,
    eventStoreUrl: eventStore.url,
    dataDir: folder.path,
    environment,
    pids: () => record.pids(),
    ops: (args) => ops.json(args),
    start: (name, own = {}, program = programPath(name)) =>
      startProcess(
        name,
        {
          ...withoutOperatorsSecrets(environment),
          PORT: '0',
          EXIT_WITH_PARENT: '1',
          ...own,
        },
        program,
      ),
    stop: async () => {
      ops.stop();
      disk?.stop();
      await eventStore.supervisor.stop(STOP_WITHIN_MS);
      await postgres.stop();
      if (dataDir === undefined) removeDataFolder(folder.path);
    },
  };
};

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
