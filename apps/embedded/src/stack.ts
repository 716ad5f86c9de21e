import { rmSync } from 'node:fs';
import { programPath } from '#platform/program-path.js';
import {
  type DataFolder,
  openDataFolder,
  takeLock,
  writePrivateFile,
  writePrivateJsonIfRoom,
  StackError,
} from './data-folder.js';
import { DiskRoom, requireRoomToStart } from './disk-room.js';
import { startEventStore, listenOnce } from './event-store-process.js';
import {
  LogFile,
  ProcessRecord,
  Supervisor,
  type SupervisorEvents,
  type Announcement,
  launchNode,
} from './processes.js';
import {
  checkSettings,
  childEnvironment,
  type Connections,
  loadSecrets,
  type Secrets,
  settingsOf,
  withoutOperatorsSecrets,
  writeOperatorKeys,
} from './secrets.js';
import { startPostgres } from './postgres.js';

/** Who stops together, and how long after the start of a stop a child that still runs is killed (ms). */
const STOPS: readonly (readonly [readonly ChildName[], number])[] = [
  // The API drains for 8 s.
  [['api', 'worker'], 8_700],
  [['event-store'], 9_300],
  [['postgres'], 9_800],
];
const LEAST_PATIENCE_MS = 200;

type ChildName = AppName | 'event-store' | 'postgres';
/** The children that developers may run themselves, beside the stack. */
const APPS = ['api', 'worker'] as const;
type AppName = (typeof APPS)[number];
const TITLES: Readonly<Record<AppName, string>> = { api: 'the API', worker: 'the worker' };

export interface StackOptions {
  readonly dataDir: string;
  /** The service's settings as environment variables; missing ones have their defaults. */
  readonly environment: NodeJS.ProcessEnv;
  readonly say: (line: string) => void;
  /** Called when a child cannot be kept running. The stack is then unusable, and its owner should stop it. */
  readonly onFailure: (message: string) => void;
}

export interface RunningStack {
  readonly baseUrl: string;
  readonly folder: DataFolder;
  /** The environment of the children, for `ops`. */
  readonly environment: NodeJS.ProcessEnv;
}

/** The database, the event store, the API and the worker on one machine, under one data folder. */
export class Stack {
  private readonly children = new Map<ChildName, { stop(withinMs: number): Promise<void> }>();
  private readonly startedAt = new Date();
  private running?: RunningStack;
  private stopped?: Promise<void>;
  private releaseLock = (): void => undefined;
  private folder?: DataFolder;
  private record?: ProcessRecord;
  private disk?: DiskRoom;

  constructor(private readonly options: StackOptions) {}

  /** Starts everything or nothing. @throws StackError or ConfigError with a message for the person at the terminal */
  async start(): Promise<RunningStack> {
    try {
      return await this.startAll();
    } catch (error) {
      await this.stop();
      throw error;
    }
  }

  /** Stops the API and the worker, then the event store, then the database, within 10 s; also during the start. */
  stop(): Promise<void> {
    this.stopped ??= this.stopAll();
    return this.stopped;
  }

  private async startAll(): Promise<RunningStack> {
    const { say } = this.options;
    const folder = (this.folder = openDataFolder(this.options.dataDir));
    requireRoomToStart(folder.path);
    const environment = {
      KEY_DIRECTORY: folder.keys,
      DISK_FOLDER: folder.path,
      PORTAL: isPortalReachable(this.options.environment) ? '1' : '0',
      ...withoutEmpty(this.options.environment),
    };
    this.releaseLock = takeLock(folder.path);
    const secrets = loadSecrets(folder);
    const config = checkSettings(environment, secrets);
    const record = (this.record = new ProcessRecord(folder.processes));
    this.disk = new DiskRoom(folder.path, config.DISK_RESERVE_MIB * 2 ** 20, say);
    await record.endOrphans();
    await requireFreePort(config.PORT, config.HOST);

    say('Starting the database and the event store…');
    const connections = await this.startStores(folder, secrets, record);
    const settings = {
      OPERATOR_KEY_FILE: writeOperatorKeys(folder, secrets),
      ...childEnvironment(environment, secrets, connections),
      DATA_DIR: folder.path,
    };
    const without = this.options.environment['EMBEDDED_WITHOUT']?.split(',') ?? [];
    const names = APPS.filter((name) => !without.includes(name));
    if (names.length > 0) say(`Starting ${names.map((name) => TITLES[name]).join(' and ')}…`);
    const port = (await this.startApps(names, folder, record, settings)) ?? config.PORT;

    this.running = { baseUrl: `http://${reachable(config.HOST)}:${port}`, folder, environment: settings };
    if (names.length < APPS.length) {
      // As Node's `--env-file` reads them. No value has a single quote.
      const lines = Object.entries(settingsOf(withoutOperatorsSecrets(settings)));
      writePrivateFile(folder.environment, lines.map(([name, value]) => `${name}='${value}'\n`).join(''));
    }
    // Last: it says that all is there.
    this.publish();
    return this.running;
  }

  private async startStores(
    folder: DataFolder,
    secrets: Secrets,
    record: ProcessRecord,
  ): Promise<Connections> {
    const [postgres, eventStore] = await Promise.all([
      startPostgres(folder, secrets.POSTGRES_PASSWORD, record, this.events(), (child) =>
        this.adopt('postgres', child),
      ),
      startEventStore(
        { folder, record, events: this.events(), adopt: (child) => this.adopt('event-store', child) },
        this.options.environment['EMBEDDED_EVENT_STORE_COMMAND'] || undefined,
      ),
    ]);
    return {
      DATABASE_URL: postgres.urls.application,
      DATABASE_OWNER_URL: postgres.urls.owner,
      EVENTSTORE_URL: eventStore.url,
    };
  }

  /** @returns the API's port, which it keeps across restarts; undefined without the API */
  private async startApps(
    names: readonly AppName[],
    folder: DataFolder,
    record: ProcessRecord,
    environment: NodeJS.ProcessEnv,
  ): Promise<number | undefined> {
    const start = (name: AppName): Promise<Announcement> => {
      const log = new LogFile(folder.logs, name);
      // Evaluated at every start: a restarted API keeps its port.
      const own = () => ({
        ...withoutOperatorsSecrets(environment),
        ...(name === 'worker' && nextMetricsPort(environment['METRICS_PORT'])),
        EXIT_WITH_PARENT: '1',
      });
      const launch = () => launchNode(programPath(name), { name, args: [], environment: own(), log, record });
      const app = new Supervisor({ name, log, stopSignal: 'SIGTERM', launch }, this.events());
      this.adopt(name, app);
      return app.start();
    };
    const announcements = await Promise.all(names.map(start));
    const port = announcements.find((one) => one.port !== undefined)?.port;
    if (port !== undefined) environment['PORT'] = String(port);
    return port;
  }

  private adopt(name: ChildName, child: { stop(withinMs: number): Promise<void> }): void {
    this.children.set(name, child);
    if (this.stopped) void child.stop(LEAST_PATIENCE_MS);
  }

  private events(): SupervisorEvents {
    return {
      say: (line) => this.options.say(line),
      untilRoom: () => this.disk?.untilRoom() ?? Promise.resolve(false),
      onRestart: () => this.publish(),
      onGivenUp: (message) => this.options.onFailure(message),
    };
  }

  /** Writes `runtime.json` for `ops` and other tools: `baseUrl`, process ids by name, the start, and all settings. */
  private publish(): void {
    if (!this.running || !this.record || this.stopped) return;
    const { baseUrl, folder, environment } = this.running;
    const pids = { main: process.pid, ...this.record.pids() };
    const about = { baseUrl, pids, startedAt: this.startedAt.toISOString() };
    writePrivateJsonIfRoom(folder.runtime, { ...about, ...settingsOf(environment) });
  }

  private async stopAll(): Promise<void> {
    const begin = Date.now();
    this.disk?.stop();
    for (const [names, withinMs] of STOPS) {
      const remaining = Math.max(begin + withinMs - Date.now(), LEAST_PATIENCE_MS);
      await Promise.all(names.map(async (name) => this.children.get(name)?.stop(remaining)));
    }
    if (this.running && this.folder)
      for (const path of [this.folder.runtime, this.folder.environment]) rmSync(path, { force: true });
    this.releaseLock();
  }
}

/** The API would report a port conflict only after everything else has started. */
const requireFreePort = async (port: number, host: string): Promise<void> => {
  try {
    await listenOnce(port, host);
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new StackError(
      code === 'EADDRINUSE'
        ? `Port ${port} is in use by another program: choose another one with PORT, for example PORT=${port + 1}.`
        : `The API cannot listen on ${host}, port ${port} (${code}): choose others with HOST and PORT.`,
    );
  }
};

/** API and worker share a machine, so the worker serves metrics on the next port. */
const nextMetricsPort = (port: string | undefined): NodeJS.ProcessEnv =>
  port && port !== '0' ? { METRICS_PORT: String(Number(port) + 1) } : {};

/** Whether people reach the portal as its settings demand. A stack that listens elsewhere starts without it. */
const isPortalReachable = ({ HOST, PUBLIC_URL }: NodeJS.ProcessEnv): boolean =>
  PUBLIC_URL ? PUBLIC_URL.startsWith('https:') : !HOST || HOST === '127.0.0.1' || HOST === 'localhost';

/** Empty variables, as a shell passes them, count as not set. */
const withoutEmpty = (environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== undefined && value !== ''));

/** The address at which to call an API that listens on `host`. */
const reachable = (host: string): string => {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
};
