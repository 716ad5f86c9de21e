import pg from 'pg';
import { execFile } from 'node:child_process';
import { appendFileSync, chownSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { DataFolder } from '../../apps/embedded/src/data-folder.js';
import { type Launched, LogFile, type ProcessRecord } from '../../apps/embedded/src/processes.js';
import {
  databaseAccount,
  databaseHome,
  giveFolder,
  socketFolder,
  ADMINISTRATOR,
  databaseUrls,
  type DatabaseUrls,
  findBinaries,
  launchServer,
  prepareEmbeddedDatabase,
} from '../../apps/embedded/src/postgres.js';
import { until } from './integrator.js';
import { startTcpProxy } from './start-tcp-proxy.js';

/** What a primary needs that has a standby. */
const REPLICATION = { wal_level: 'replica', max_wal_senders: '4', wal_keep_size: '256MB' };
/** How long a frozen primary runs again before it is killed, while its clients still hold its connections (ms). */
const AWAKE_MS = 500;

/** How a primary ends. */
export const FALLS = ['killed', 'frozen', 'handed over'] as const;
export type Fall = (typeof FALLS)[number];

/** A primary and its standby. The service reaches them through a proxy that leads to the primary, as an operator's does. */
export interface PostgresPair {
  readonly urls: DatabaseUrls;
  /**
   * Makes a standby out of a copy of the primary, and waits until it follows. While a synchronous one is attached, the
   * primary acknowledges no commit that the standby lacks.
   */
  attach(replication: 'synchronous' | 'asynchronous'): Promise<void>;
  /** The standby follows no more: what the primary commits from now on is lost with it. */
  detach(): Promise<void>;
  /**
   * Ends the primary, and makes the standby the primary. A frozen primary keeps its connections and wakes at the next
   * {@link attach}.
   */
  promote(fall: Fall): Promise<void>;
  stop(): Promise<void>;
}

interface Node {
  readonly cluster: string;
  readonly sockets: string;
  readonly server: Launched<void>;
}

/** Starts the server of a prepared data folder as a primary without a standby. */
export const startPostgresPair = async (
  folder: DataFolder,
  password: string,
  record: ProcessRecord,
): Promise<PostgresPair> => {
  const account = databaseAccount();
  const home = databaseHome(folder.postgres, account);
  const binaries = findBinaries(home, account);
  let made = 0;

  const own = (path: string): string => {
    if (account) chownSync(path, account.uid, account.gid);
    return path;
  };
  const place = (): string => {
    const path = join(home, `node-${(made += 1)}`);
    mkdirSync(path, { mode: 0o700 });
    if (account) giveFolder(path, account);
    return path;
  };
  const launched = async (at: string, cluster: string): Promise<Node> => {
    const sockets = socketFolder(at, account);
    const log = new LogFile(folder.logs, `postgres-${made}`);
    const server = launchServer({ cluster, binaries, account, sockets, log, record, settings: REPLICATION });
    await server.ready;
    return { cluster, sockets, server };
  };

  let primary = await launched(place(), join(home, 'cluster'));
  let standby: Node | null = null;
  let frozen: Node | null = null;
  const direct = databaseUrls(primary.sockets, password);
  await prepareEmbeddedDatabase(direct);
  const proxy = await startTcpProxy(() => join(primary.sockets, '.s.PGSQL.5432'));

  const ask = async <T extends pg.QueryResultRow>(node: Node, text: string): Promise<T[]> =>
    connected(direct.admin, node, async (client) => (await client.query<T>(text)).rows);

  const copied = async (cluster: string): Promise<void> => {
    mkdirSync(cluster, { mode: 0o700 });
    if (account) giveFolder(cluster, account);
    await connected(direct.admin, primary, async (client) => {
      await client.query(`select pg_backup_start('standby', true)`);
      // A file that vanishes meanwhile is in the log that the standby reads.
      await promisify(execFile)('sh', ['-c', COPY, 'sh', primary.cluster, cluster]);
      const { rows } = await client.query<{ labelfile: string }>(
        'select labelfile from pg_backup_stop(false)',
      );
      writeFileSync(join(cluster, 'backup_label'), rows[0]!.labelfile);
    });
    const follow = `host=${primary.sockets} port=5432 user=${ADMINISTRATOR} password=${password}`;
    appendFileSync(
      join(cluster, 'postgresql.auto.conf'),
      `\nprimary_conninfo = '${follow}'\nsynchronous_standby_names = ''\n`,
    );
    writeFileSync(join(cluster, 'standby.signal'), '');
    for (const file of ['backup_label', 'standby.signal']) own(join(cluster, file));
  };

  const commitsWaitFor = async (standbys: string): Promise<void> => {
    await ask(primary, `alter system set synchronous_standby_names = '${standbys}'`);
    await ask(primary, 'select pg_reload_conf()');
  };

  const discard = async (node: Node): Promise<void> => {
    for (const pid of processesOf(node)) signal(pid, 'SIGKILL');
    await node.server.exited;
    rmSync(node.cluster, { recursive: true, force: true });
  };

  return {
    urls: {
      admin: through(proxy.port, direct.admin),
      owner: through(proxy.port, direct.owner),
      application: through(proxy.port, direct.application),
    },
    attach: async (replication) => {
      if (frozen) {
        for (const pid of processesOf(frozen)) signal(pid, 'SIGCONT');
        await sleep(AWAKE_MS);
        await discard(frozen);
        frozen = null;
      }
      if (standby) await discard(standby);
      const at = place();
      const cluster = join(at, 'cluster');
      await copied(cluster);
      standby = await launched(at, cluster);
      const isStreaming = async (state: string): Promise<boolean> =>
        (await ask(primary, `select from pg_stat_replication where state = 'streaming' and ${state}`))
          .length > 0;
      await until(
        () => isStreaming('true'),
        () => 'the standby follows',
      );
      if (replication === 'asynchronous') return;
      await commitsWaitFor('*');
      await until(
        () => isStreaming(`sync_state = 'sync'`),
        () => 'the standby is synchronous',
      );
    },
    detach: async () => {
      await commitsWaitFor('');
      await ask(standby!, `alter system set primary_conninfo = ''`);
      await ask(standby!, 'select pg_reload_conf()');
      await until(
        async () => (await ask(primary, 'select from pg_stat_replication')).length === 0,
        () => 'nobody follows the primary',
      );
    },
    promote: async (fall) => {
      const [fallen, next] = [primary, standby!];
      if (fall === 'handed over') {
        fallen.server.kill('SIGINT');
        await fallen.server.exited;
      } else {
        for (const pid of processesOf(fallen)) signal(pid, fall === 'killed' ? 'SIGKILL' : 'SIGSTOP');
      }
      await ask(next, 'select pg_promote(true, 60)');
      [primary, standby] = [next, null];
      if (fall === 'frozen') frozen = fallen;
      else await discard(fallen);
    },
    stop: async () => {
      await proxy.stop();
      for (const node of [primary, standby, frozen]) if (node) await discard(node);
    },
  };
};

/** Copies a cluster without its log, which the standby gets from the primary. */
const COPY = `tar -C "$1" --exclude='./pg_wal/*' --exclude=./postmaster.pid --exclude=./postmaster.opts -cf - . |
  tar -C "$2" -xpf -`;

const connected = async <T>(
  url: string,
  { sockets }: Node,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> => {
  const at = new URL(url);
  at.searchParams.set('host', sockets);
  const client = new pg.Client({ connectionString: at.href });
  // A server that is killed meanwhile.
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
};

/** The server's URL behind the proxy. */
const through = (port: number, url: string): string => {
  const at = new URL(url);
  at.searchParams.delete('host');
  [at.hostname, at.port] = ['127.0.0.1', String(port)];
  return at.href;
};

/** The server first, so that it starts nothing for its children that end. Each of them has a process group of its own. */
const processesOf = ({ server: { pid } }: Node): readonly number[] => {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return [pid, ...children.split(' ').filter(Boolean).map(Number)];
  } catch {
    return [];
  }
};

const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
};
