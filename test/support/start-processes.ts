import { programPath } from '#platform/program-path.js';
import { OpsProcess } from './ops-process.js';
import { type DataFolder, openDataFolder } from '../../apps/embedded/src/data-folder.js';
import { DiskRoom } from '../../apps/embedded/src/disk-room.js';
import { startEventStore } from '../../apps/embedded/src/event-store-process.js';
import { ProcessRecord } from '../../apps/embedded/src/processes.js';
import {
  checkSettings,
  childEnvironment,
  loadSecrets,
  withoutOperatorsSecrets,
  writeOperatorKeys,
} from '../../apps/embedded/src/secrets.js';
import { removeDataFolder } from './data-dir.js';
import { PATIENT } from './patience.js';
import { preparedDataDir } from './prepared-data-dir.js';
import { type StartedProcess, startProcess } from './start-process.js';
import { type DatabaseUrls, startPostgres } from '../../apps/embedded/src/postgres.js';

export { startProcess, type StartedProcess } from './start-process.js';

const STOP_WITHIN_MS = 5_000;
const MEBIBYTE = 1024 * 1024;

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
  // As the embedded stack does.
  const disk =
    dataDir === undefined
      ? null
      : new DiskRoom(folder.path, config.DISK_RESERVE_MIB * MEBIBYTE, () => undefined);
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
