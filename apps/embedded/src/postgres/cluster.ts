import { execFile } from 'node:child_process';
import { existsSync, lchownSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { commandLine, endProcess, identify } from '../process-identity.js';
import type { Account } from './account.js';
import { giveFolder } from './give-folder.js';
import type { Binaries } from './binaries.js';

/** The superuser of the embedded cluster, used only by the stack itself; also the name of its database. */
export const ADMINISTRATOR = 'reading_service';

const SHUTDOWN_PATIENCE_MS = 5_000;

/**
 * The server's language and time zone are fixed, whatever the machine's are. It inherits none of our
 * environment.
 */
export const SERVER_ENVIRONMENT = { LC_ALL: 'C', TZ: 'UTC', PATH: process.env['PATH'] } as const;

/** How every cluster of the service stores and sorts text. Without the encoding, initdb takes that of the locale. */
export const LOCALE_ARGUMENTS = [
  '--encoding=UTF8',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--locale=C',
];

/** Creates the cluster under `home` if it does not exist. An interrupted creation is started again. */
export const ensureCluster = async (
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
        // MiB of a file of the log. On a full disk PostgreSQL needs room for a whole one, and few of the default (16)
        // fit into the ballast.
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

/**
 * Prepares a cluster whose server may have been killed. Stops a server that still runs on it. Removes a stale
 * pid file, because PostgreSQL would take any running process with that id for its own.
 */
export const releaseCluster = async (cluster: string): Promise<void> => {
  const pidFile = join(cluster, 'postmaster.pid');
  if (!existsSync(pidFile)) return;
  const server = identify(Number(readFileSync(pidFile, 'utf8').split('\n')[0]));
  if (server && commandLine(server.pid).includes(cluster)) {
    await endProcess(server, 'SIGINT', SHUTDOWN_PATIENCE_MS);
  }
  rmSync(pidFile, { force: true });
};
