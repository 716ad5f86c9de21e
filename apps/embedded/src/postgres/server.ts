import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { launch, type Launched } from '../launched.js';
import type { LogFile } from '../log-file.js';
import type { ProcessRecord } from '../process-record.js';
import type { Account } from './account.js';
import type { Binaries } from './binaries.js';
import { SERVER_ENVIRONMENT } from './cluster.js';
import { SOCKET_NUMBER } from './sockets.js';

/** Settings for a laptop: small, without replication, and with PostgreSQL's default durability (fsync on). */
const SETTINGS = {
  // No TCP port: every local user could reach it. Another program could take it while the server is down and
  // receive the password.
  listen_addresses: '',
  unix_socket_permissions: '0700',
  max_connections: '100',
  shared_buffers: '128MB',
  fsync: 'on',
  synchronous_commit: 'on',
  full_page_writes: 'on',
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

export interface ServerOptions {
  readonly cluster: string;
  readonly binaries: Binaries;
  readonly account: Account | undefined;
  /** Folder of the server's socket. */
  readonly sockets: string;
  readonly log: LogFile;
  readonly record: ProcessRecord;
  /** Beyond those of a laptop, and instead of them. */
  readonly settings?: Readonly<Record<string, string>>;
}

/** The setting is a comma-separated list; this is a list of one quoted name. */
const socketsIn = (folder: string): string[] => [
  '-c',
  `unix_socket_directories="${folder.replaceAll('"', '""')}"`,
];

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
  const settings = Object.entries({ ...SETTINGS, ...own }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ]);
  const server = launch(
    {
      name: 'postgres',
      command: binaries.postgres,
      args: ['-D', cluster, '-p', String(SOCKET_NUMBER), ...settings, ...socketsIn(sockets)],
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

/**
 * PostgreSQL does not notice when the process that started it dies. This shell does, because its standard
 * input then closes. It asks the server to stop if the pid file still names it.
 */
const guard = (cluster: string, server: Launched<void>): void => {
  const script = 'read -r _; [ "$(head -n 1 "$1" 2>/dev/null)" = "$2" ] && kill -INT "$2"';
  const shell = spawn(
    '/bin/sh',
    ['-c', script, 'guard', join(cluster, 'postmaster.pid'), String(server.pid)],
    {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      cwd: '/',
    },
  );
  shell.on('error', () => undefined);
  shell.stdin.on('error', () => undefined);
  shell.unref();
  void server.exited.then(() => shell.kill('SIGKILL'));
};
