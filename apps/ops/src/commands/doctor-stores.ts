import { X509Certificate } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { statfs } from 'node:fs/promises';
import { request as askInClear, type IncomingMessage } from 'node:http';
import { request as askOverTls } from 'node:https';
import { connect as connectTcp, isIP } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect as connectTls } from 'node:tls';
import pg from 'pg';
import type { Pool, PoolClient } from 'pg';
import { z } from 'zod';
import { emptiedTables } from '#event-sourcing/projections/lost-tables.js';
import { hostOf, readAddress, type StoreAddress } from '#event-sourcing/store/address.js';
import type { Role } from '#event-sourcing/store/connection.js';
import { MOST_APPEND_BYTES, type EventStore } from '#event-sourcing/store/event-store.js';
import type { EpochKeys } from '#platform/crypto/epochs/epoch-keys.js';
import { EpochRows } from '#platform/crypto/epochs/epoch-rows.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { adviceOn, type FaultKind } from '#platform/fault/fault.js';
import { pendingMigrations } from '#platform/postgres/pending-migrations.js';
import { roleStanding } from '#platform/postgres/application-rights.js';
import { POSTGRES_LEAST, POSTGRES_TESTED } from '#platform/postgres/pool.js';
import { programPath } from '#platform/program-path.js';
import { ABSENT_AFTER_MS } from '#platform/time/heartbeat.js';
import type { TrustedTime } from '#platform/time/trusted-time.js';
import { ExamineIssuerKeys } from '#workspaces/contracts/index.js';
import { dataDirOf } from '../../../embedded/src/data-folder.js';
import { MODULES } from '../../../service/src/modules.js';
import { PROJECTIONS } from '../../../service/src/projections.js';
import type { Config } from '../../../service/src/settings.js';
import { EXPENDABLE_TABLES, findMissingTables, READ_MODELS } from '../../../service/src/tables.js';
import type { Session } from '../session.js';
import { keyOpens } from './keys.js';
import { findMisshapenTables, type MisshapenTable } from './lost-tables.js';

export interface Finding {
  readonly check: string;
  readonly level: 'ok' | 'warning' | 'failure';
  readonly message: string;
  /** What to do; empty when the check passes. */
  readonly advice: string;
  /** Of a check that could not run: the kind of fault, such as `absent` or `table_missing`. */
  readonly cause?: FaultKind;
}

/** `check` only where it is another name than that of the check. */
export type Verdict = Omit<Finding, 'check'> & Partial<Pick<Finding, 'check'>>;

export const ok = (message: string): Verdict => ({ level: 'ok', message, advice: '' });
export const warning = (message: string, advice: string): Verdict => ({ level: 'warning', message, advice });
export const failure = (message: string, advice: string, cause?: FaultKind): Verdict => ({
  level: 'failure',
  message,
  advice,
  ...(cause && { cause }),
});

/** The two stores. A check that needs one says nothing new while that one does not work. */
type Store = 'postgres' | 'event store';

export interface Check {
  readonly name: string;
  readonly needs: readonly Store[];
  readonly run: (session: Session) => Promise<Verdict | readonly Verdict[]>;
}

export const check = (name: string, needs: readonly Store[], run: Check['run']): Check => {
  return { name, needs, run };
};

export const POSTGRES = ['postgres'] as const;
export const EVENTS = ['event store'] as const;
export const BOTH = ['postgres', 'event store'] as const;

/** Ok below the first limit, a warning below the second, a failure at or above it. */
export const graded = (
  value: number,
  [warnFrom, failFrom]: readonly [number, number],
  message: string,
  advice: string,
): Verdict => {
  if (value >= failFrom) return failure(message, advice);
  return value >= warnFrom ? warning(message, advice) : ok(message);
};

interface DatabaseFacts {
  readonly version: string;
  readonly number: number;
  readonly checksums: string;
  readonly size: string;
  readonly encoding: string;
  /** Version of the collation under which its indexes were made, and now. `null`: unknown, or one that never changes. */
  readonly sortedBy: string | null;
  readonly sortsBy: string | null;
}

export const checkPostgres = async (pool: Pool): Promise<Verdict> => {
  const { rows } = await pool.query<DatabaseFacts>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
            current_setting('data_checksums') as checksums, pg_size_pretty(pg_database_size(oid)) as size,
            pg_encoding_to_char(encoding) as encoding, datcollversion as "sortedBy",
            pg_database_collation_actual_version(oid) as "sortsBy"
     from pg_database where datname = current_database()`,
  );
  const { version, number, checksums, size, encoding, sortedBy, sortsBy } = rows[0]!;
  const message = `PostgreSQL ${version}, database of ${size}`;
  if (number < POSTGRES_LEAST)
    return failure(`${message}, is too old`, adviceOn('unsupported'), 'unsupported');
  if (encoding !== 'UTF8')
    return failure(
      `${message}, in ${encoding}: it cannot store every text`,
      'Make a database with encoding UTF8, and restore a backup into it.',
    );
  if (sortedBy !== null && sortedBy !== sortsBy)
    return failure(
      `${message}, was made under version ${sortedBy} of its collation and sorts by ${sortsBy} now: indexes may miss rows, and unique ones admit doubles`,
      'Stop API and worker, then reindex the database and refresh its collation version (docs/runbook.md).',
    );
  if (checksums !== 'on')
    return warning(
      `${message}, without data checksums: it would not notice damaged bytes on its disk`,
      'Stop the server, run pg_checksums --enable on its data folder, and start it again.',
    );
  return number < POSTGRES_TESTED
    ? warning(message, 'The service is tested on PostgreSQL 18: plan an upgrade.')
    : ok(message);
};

export const checkEventStore = async (store: EventStore, { EVENTSTORE_URL }: Config): Promise<Verdict> => {
  const cluster = await askCluster(EVENTSTORE_URL);
  if (cluster && cluster.leader === null)
    return failure(
      `${describeCluster(cluster)}: there is no quorum, and nothing can be read or written`,
      'Start the missing nodes: more than half of them must reach each other.',
      'absent',
    );
  // The first call also loads the client and connects.
  await store.head();
  const startedAt = performance.now();
  const head = await store.head();
  const took = Math.round(performance.now() - startedAt);
  const server = await askServer(EVENTSTORE_URL, cluster?.leader ?? undefined);
  const message = [
    describeServer(server),
    ...(cluster ? [describeCluster(cluster)] : []),
    `head at ${head ?? 'no event'}, answered in ${took} ms`,
  ].join(', ');
  if (Math.min(server.appendBytes ?? Infinity, server.eventBytes ?? Infinity) < MOST_APPEND_BYTES)
    return warning(
      message,
      `The service sends up to ${MOST_APPEND_BYTES} bytes in one append: raise MaxAppendSize and MaxAppendEventSize of the server.`,
    );
  if (cluster && cluster.silent.length > 0)
    return warning(message, 'Start the silent nodes: without more than half, nothing can be written.');
  const { usesTls, nodes } = readAddress(EVENTSTORE_URL);
  if (!usesTls)
    return warning(
      `${message}; without TLS and login`,
      'Anyone who reaches its port can append events: install certificates, then run ops event-store prepare (docs/operations.md).',
    );
  return nodes.some((node) => isIP(hostOf(node)) !== 0)
    ? warning(
        `${message}; EVENTSTORE_URL names an IP address`,
        'Node.js deprecates TLS to an IP address (DEP0123): use a host name that the certificate has.',
      )
    : ok(message);
};

/** Long enough for a busy node: one that is only slow must not be reported as absent. */
const ANSWER_WITHIN_MS = 5_000;

const info = z.object({ esVersion: z.string() });
const options = z.array(z.object({ name: z.string(), value: z.string() }));

export interface ServerFacts {
  /** `null`: it did not say. */
  readonly version: string | null;
  /** Bytes that one append may carry. `null`: it does not say so to this login. */
  readonly appendBytes: number | null;
  /** Bytes that one event may carry, since KurrentDB 26. `null`: no such limit, or not said. */
  readonly eventBytes: number | null;
}

/** Asks `/info`, and `/info/options` for the limits, which servers show to operators only. */
export const askServer = async (url: string, node = readAddress(url).nodes[0]!): Promise<ServerFacts> => {
  const ask = async <T>(path: string, schema: z.ZodType<T>): Promise<T | null> => {
    try {
      return schema.parse(JSON.parse(await textAt(url, node, path)));
    } catch {
      return null;
    }
  };
  const version = (await ask('/info', info))?.esVersion ?? null;
  const known = version === null ? null : await ask('/info/options', options);
  const bytes = (name: string): number | null => {
    const value = known?.find((option) => option.name === name)?.value;
    return value === undefined ? null : Number(value);
  };
  return { version, appendBytes: bytes('MaxAppendSize'), eventBytes: bytes('MaxAppendEventSize') };
};

/** Trusts what the address trusts, which `fetch` cannot. */
const textAt = async (url: string, node: string, path: string): Promise<string> => {
  const address = readAddress(url);
  const { usesTls, login } = address;
  const ask = usesTls ? askOverTls : askInClear;
  const request = ask({
    host: hostOf(node),
    port: Number(/\d+$/.exec(node)![0]),
    path,
    agent: false,
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    ...(usesTls && address.tls()),
    ...(usesTls && login && { auth: `${login.username}:${login.password}` }),
  }).end();
  const [answer] = (await once(request, 'response')) as [IncomingMessage];
  return text(answer);
};

/** EventStoreDB has been KurrentDB since version 25. */
export const nameOfServer = (version: string): string =>
  `${Number.parseInt(version) < 25 ? 'EventStoreDB' : 'KurrentDB'} ${version}`;

const describeServer = ({ version, appendBytes, eventBytes }: ServerFacts): string => {
  if (version === null) return 'reachable, version unknown';
  const event = eventBytes === null ? '' : `, ${eventBytes} in one event`;
  const limits =
    appendBytes === null ? 'limits not shown to this login' : `takes ${appendBytes} bytes in one append`;
  return `${nameOfServer(version)}, ${limits}${event}`;
};

/** The nodes of a cluster, as they answer now; `null`: the address names one node. */
const askCluster = async (url: string) => {
  const address = readAddress(url);
  if (!address.isCluster) return null;
  const roles = await Promise.all(
    address.nodes.map(async (node) => ({ node, role: await roleOf(address, node) })),
  );
  const those = (wanted: boolean | null) =>
    roles.filter(({ role }) => (role?.leads ?? null) === wanted).map(({ node }) => node);
  const named = roles.flatMap(({ role }) => (role?.leads === false ? [role.leader] : []));
  const silent = those(null);
  const leader = those(true)[0] ?? named.find((node) => !silent.includes(node)) ?? null;
  return { leader, followers: those(false), silent };
};

/** `null`: it gives no answer. */
const roleOf = async (address: StoreAddress, node: string): Promise<Role | null> => {
  // Most commands start sooner without the client.
  const { askRole } = await import('#event-sourcing/store/connection.js');
  const { StoreClient } = await import('#event-sourcing/store/store-client.js');
  const client = new StoreClient(address, node);
  try {
    return await askRole(client, ANSWER_WITHIN_MS);
  } catch {
    return null;
  } finally {
    await client.close();
  }
};

const describeCluster = ({
  leader,
  followers,
  silent,
}: NonNullable<Awaited<ReturnType<typeof askCluster>>>) =>
  [
    leader === null ? 'no node leads' : `${leader} leads`,
    followers.length === 0 ? 'no followers' : `followers ${followers.join(', ')}`,
    ...(silent.length === 0 ? [] : [`no answer from ${silent.join(', ')}`]),
  ].join('; ');

/** Shorter than the doctor's wait for a check. */
const VERIFY_WITHIN_MS = 8_000;

const checkStoreFile = async ({ EVENTSTORE_URL }: Config): Promise<readonly Verdict[]> => {
  // The embedded store of a stack serves TLS only: another one has files of its own.
  if (process.env['DATABASE_URL'] || !readAddress(EVENTSTORE_URL).usesTls) return [];
  const folder = join(dataDirOf(process.env), 'event-store');
  const { verifyApart } = await import('#embedded-event-store/operator/verify-apart.js');
  const patience = AbortSignal.timeout(VERIFY_WITHIN_MS);
  try {
    const program = programPath('embedded-event-store');
    const { events, findings, listed } = await verifyApart(program, folder, patience);
    if (findings === 0) return [ok(`all ${events} events match their checksums`)];
    const more = findings > 1 ? ` (and ${findings - 1} more)` : '';
    const advice = 'Restore a backup: docs/operations.md, "Backup and restore".';
    return [failure(`${folder} is damaged: ${listed[0]}${more}`, advice, 'damaged')];
  } catch (error) {
    if (!patience.aborted) throw error;
    const command = `embedded-event-store verify --data ${folder}`;
    return [ok(`not read within ${VERIFY_WITHIN_MS / 1_000} s; ${command} reads it to the end`)];
  }
};

const checkTables = async ({ pool, store, config }: Session): Promise<readonly Verdict[]> => {
  // Tables that are not made yet are a matter for the check of migrations.
  if ((await pendingMigrations(config.DATABASE_URL, MODULES)).length > 0) return [];
  const { readModels, expendable, irreplaceable } = await findMissingTables(pool);
  const missing = [...irreplaceable, ...readModels, ...expendable];
  // Without checkpoints, nothing says up to where a table should be filled.
  const emptied = irreplaceable.length > 0 ? [] : await emptiedTables({ pool, store }, PROJECTIONS);
  const misshapen = await findMisshapenTables(pool);
  const faults = missing.length + emptied.length + misshapen.length;
  if (faults === 0) return [ok('every table exists with its columns')];
  const shapes = misshapen.map(({ table, lacks }) => `${table} (${lacks.join(', ')})`);
  const said = [
    ...(missing.length > 0 ? [`missing: ${missing.join(', ')}`] : []),
    ...(emptied.length > 0 ? [`empty, although the log has rows for them: ${emptied.join(', ')}`] : []),
    ...(shapes.length > 0 ? [`of another shape: ${shapes.join(', ')}`] : []),
  ].join('; ');
  const byHand = misshapen.filter(({ table }) => !READ_MODELS.includes(table));
  const advice =
    irreplaceable.length > 0
      ? `Only a backup has ${irreplaceable.join(', ')}: stop API and workers, then ops restore (docs/runbook.md, "Lost tables").`
      : expendable.length > 0
        ? 'ops projections restore --all --make-empty; with --dry-run it says what is lost with each table.'
        : faults > byHand.length
          ? 'ops projections restore --all'
          : '';
  const ways = [advice, ...byHand.map(wayOutByHand)].filter(Boolean).join('; then: ');
  return [failure(said, ways, 'table_missing')];
};

/** The rows of an operational table are nowhere else: no command replaces it. */
const wayOutByHand = ({ table, lacks }: MisshapenTable): string =>
  table in EXPENDABLE_TABLES
    ? `drop table ${table} as the owner, then ops projections restore --all --make-empty`
    : `give ${table} its columns back as its migrations made them (${lacks.join(', ')}), or ops restore a backup`;

const checkClock = async (time: Pick<TrustedTime, 'compare'>): Promise<Verdict> => {
  const { level, message } = await time.compare();
  const said = message[0]!.toUpperCase() + message.slice(1);
  if (level === 'refused')
    return failure(
      said,
      'Correct that clock (NTP). Until then, processes that see the difference do no work that time causes, and change no credit book; then run ops ledger verify --all.',
    );
  if (level === 'unknown') return warning(said, 'The clocks are compared as soon as it answers.');
  return level === 'warning'
    ? warning(said, 'Synchronise the clocks (NTP) before work that time causes stops.')
    : ok(said);
};

const DAY_MS = 86_400_000;
const TLS_WITHIN_MS = 3_000;
/** The doctor warns this long before a certificate expires. */
const WARN_DAYS = 30;

/** `expiresAt` in milliseconds since 1970. */
interface Certificate {
  readonly of: string;
  readonly expiresAt: number;
}

/** A store that does not answer is reported by its own check. @param now milliseconds since 1970 */
export const checkCertificates = async (
  { EVENTSTORE_URL, DATABASE_URL }: Pick<Config, 'EVENTSTORE_URL' | 'DATABASE_URL'>,
  now: number,
): Promise<readonly Verdict[]> => {
  const { usesTls, nodes } = readAddress(EVENTSTORE_URL);
  const found = [
    ...(await Promise.all([
      ...(usesTls ? nodes : []).map((node) =>
        served('the event store', hostOf(node), /\d+$/.exec(node)![0], false),
      ),
      postgresServer(DATABASE_URL),
    ])),
    ...namedFiles(EVENTSTORE_URL),
    ...namedFiles(DATABASE_URL),
  ]
    .filter((one) => one !== null)
    .toSorted((one, other) => one.expiresAt - other.expiresAt);
  const [first] = found;
  if (!first) return [ok('no connection uses TLS')];
  const described = ({ of, expiresAt }: Certificate): string => {
    const day = new Date(expiresAt).toISOString().slice(0, 10);
    return expiresAt <= now
      ? `${of}, which expired on ${day}`
      : `${of}, which expires on ${day}, in ${Math.floor((expiresAt - now) / DAY_MS)} days`;
  };
  const ending = found.filter(({ expiresAt }) => expiresAt - now < WARN_DAYS * DAY_MS);
  if (ending.length === 0) return [ok(`the first to expire is ${described(first)}`)];
  return ending.map((one) =>
    (one.expiresAt <= now ? failure : warning)(
      `the certificate of ${described(one)}`,
      'Replace it before it expires (docs/operations.md, "Certificates").',
    ),
  );
};

const postgresServer = async (url: string): Promise<Certificate | null> => {
  const { hostname, port, searchParams } = new URL(url);
  const mode = searchParams.get('sslmode') ?? (searchParams.get('ssl') === 'true' ? 'require' : 'disable');
  const host = searchParams.get('host') ?? hostname;
  if (mode === 'disable' || host.startsWith('/')) return null;
  return served('PostgreSQL', host, port || '5432', true);
};

/** PostgreSQL's protocol, SSLRequest: the server answers S and then speaks TLS. */
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47]);

/** What a server presents, trusted or not: connections verify it themselves. `null` when it does not answer. */
const served = (of: string, host: string, port: string, isPostgres: boolean): Promise<Certificate | null> =>
  new Promise((resolve) => {
    const socket = connectTcp(Number(port), host);
    const end = (found: Certificate | null): void => {
      resolve(found);
      socket.destroy();
    };
    const nothing = (): void => end(null);
    socket.setTimeout(TLS_WITHIN_MS, nothing).once('error', nothing).once('close', nothing);
    const look = (): void => {
      const secure = connectTls({
        socket,
        ...(isIP(host) === 0 && { servername: host }),
        rejectUnauthorized: false,
      });
      secure.once('error', nothing).once('secureConnect', () => {
        const expiresAt = Date.parse(secure.getPeerCertificate().valid_to);
        end({ of: `${of} at ${host}`, expiresAt });
      });
    };
    if (!isPostgres) return void socket.once('connect', look);
    socket.once('connect', () => socket.write(SSL_REQUEST));
    socket.once('data', (answer) => (answer.toString('latin1') === 'S' ? look() : nothing()));
  });

const FILE_PARAMETERS = ['tlscafile', 'usercertfile', 'sslrootcert', 'sslcert'];
const PEM = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

const namedFiles = (url: string): readonly Certificate[] =>
  [...new URLSearchParams(url.split('?')[1] ?? '')]
    .filter(([name]) => FILE_PARAMETERS.includes(name.toLowerCase()))
    .flatMap(([, file]) => (textOf(file).match(PEM) ?? []).map((pem) => ({ file, pem })))
    .map(({ file, pem }) => ({ of: file, expiresAt: Date.parse(new X509Certificate(pem).validTo) }));

/** A file that cannot be read already stops the connection, which has a check of its own. */
const textOf = (file: string): string => {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
};

/** An attacker inside the program gets the rights of its role, so the role should only read and write rows. */
const checkDatabaseRole = async (pool: Pool): Promise<Verdict> => {
  const { role, superuser, administrator, owner } = await roleStanding(pool, MODULES);
  const may = [
    ...(superuser ? ['is a superuser'] : []),
    ...(administrator && !superuser ? ['may create roles or databases'] : []),
    ...(owner && !superuser ? ['owns tables of the service'] : []),
  ];
  return may.length === 0
    ? ok(`${role} may only read and write rows`)
    : warning(
        `${role} ${may.join(' and ')}`,
        'Give the service a role of its own: ops database prepare, then ops migrate (docs/operations.md).',
      );
};

/** What a process has beside its pool: the connection on which it listens. */
const LISTENING = 1;
/** Share of the limit above which other clients of the server leave too little. */
const FULL = 0.9;

/**
 * Whether PostgreSQL takes as many connections as the running processes may open. The limit is the server's, the database's
 * or the role's, whichever is lowest. Other processes may have another DATABASE_POOL_SIZE.
 */
export const checkConnections = async (
  pool: Pick<Pool, 'query'>,
  { DATABASE_POOL_SIZE }: Pick<Config, 'DATABASE_POOL_SIZE'>,
): Promise<Verdict> => {
  const { rows } = await pool.query<Record<'server' | 'own' | 'open' | 'processes', number>>(
    `select server, least(server, (select nullif(datconnlimit, -1) from pg_database where datname = current_database()),
                          (select nullif(rolconnlimit, -1) from pg_roles where rolname = current_user)) as own,
            (select sum(numbackends)::int from pg_stat_database) as open,
            (select count(*)::int from platform.heartbeat
             where beat_at > clock_timestamp() - make_interval(secs => $1)) as processes
     from (select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
                    - coalesce(current_setting('reserved_connections', true)::int, 0) as server) limits`,
    [ABSENT_AFTER_MS / 1_000],
  );
  const { server, own, open, processes } = rows[0]!;
  const wanted = processes * (DATABASE_POOL_SIZE + LISTENING);
  const message = `${open} of ${server} are open; ${processes} processes may open ${wanted} of ${own}`;
  return wanted > own || open > FULL * server ? warning(message, adviceOn('overloaded')) : ok(message);
};

/** A pooler in transaction mode gives the session of an idle connection to another one, or the idle one another session. */
export const checkSessions = async (pool: Pick<Pool, 'connect'>): Promise<Verdict> => {
  const idle = await pool.connect();
  const busy = await pool.connect();
  try {
    const before = await sessionOf(idle);
    await busy.query('begin');
    const other = await sessionOf(busy);
    const after = await sessionOf(idle);
    if (before === after && before !== other) return ok('connections keep their sessions of PostgreSQL');
    return failure(
      'a connection pooler gives each transaction another session of PostgreSQL',
      'Advisory locks, LISTEN and prepared statements need sessions. Set the pooler to session mode (PgBouncer: pool_mode=session), or lead DATABASE_URL past it.',
    );
  } finally {
    await busy.query('rollback').catch(() => undefined);
    busy.release();
    idle.release();
  }
};

const sessionOf = async (client: PoolClient): Promise<number> =>
  (await client.query<{ pid: number }>('select pg_backend_pid() as pid')).rows[0]!.pid;

/** `null` where the role may not know it. `syncState` is `sync` or `quorum` when a commit waits for the standby. */
export type Standby = Readonly<Record<'name' | 'state' | 'syncState' | 'behind', string | null>>;

export interface Replication {
  readonly standbys: readonly Standby[];
  /** Empty: commits wait for nobody. */
  readonly synchronousNames: string;
  readonly synchronousCommit: string;
}

/** Asks as the owner, if possible: the role of API and worker may not know what other roles do. */
const checkStandby = async (config: Config): Promise<Verdict> => {
  const client = new pg.Client({ connectionString: config.DATABASE_OWNER_URL ?? config.DATABASE_URL });
  client.on('error', () => undefined);
  await client.connect();
  try {
    const { rows: settings } = await client.query<Omit<Replication, 'standbys'>>(
      `select current_setting('synchronous_standby_names') as "synchronousNames",
              current_setting('synchronous_commit') as "synchronousCommit"`,
    );
    const { rows: standbys } = await client.query<Standby>(
      `select application_name as name, state, sync_state as "syncState",
              pg_size_pretty(pg_wal_lsn_diff(pg_current_wal_lsn(), replay_lsn)) as behind
       from pg_stat_replication where state is null or state <> 'backup' order by sync_state desc nulls last`,
    );
    return verdictOn({ ...settings[0]!, standbys });
  } finally {
    await client.end();
  }
};

const LOSS =
  'Set synchronous_standby_names, or know what a promotion loses and how to find it: docs/operations.md, "PostgreSQL with a standby".';

export const verdictOn = ({ standbys, synchronousNames, synchronousCommit }: Replication): Verdict => {
  if (standbys.length === 0)
    return synchronousNames === ''
      ? ok('none is attached: a lost server needs a backup')
      : failure(
          'commits wait for a synchronous standby, and none is attached',
          'Start the standby, or empty synchronous_standby_names and reload the server.',
        );
  if (standbys.every(({ syncState }) => syncState === null))
    return warning(
      `${standbys.length} attached; its state is hidden from this role`,
      'As an administrator: grant pg_read_all_stats to the role of DATABASE_OWNER_URL.',
    );
  const isSynchronous = ({ syncState }: Standby): boolean => syncState === 'sync' || syncState === 'quorum';
  const described = standbys
    .map((one) => {
      const kind = isSynchronous(one) ? 'synchronous' : 'asynchronous';
      return `${one.name || 'a standby'} is ${kind} (${one.state}), ${one.behind ?? 'an unknown amount'} behind`;
    })
    .join(', ');
  if (!standbys.some(isSynchronous)) return warning(`${described}: a promotion loses the last commits`, LOSS);
  return ['off', 'local'].includes(synchronousCommit)
    ? warning(
        `${described}, but synchronous_commit is ${synchronousCommit}: commits do not wait for it`,
        `Set synchronous_commit to on. ${LOSS}`,
      )
    : ok(`${described}: a promotion loses no acknowledged commit`);
};

const checkMigrations = async ({ DATABASE_URL }: Config): Promise<Verdict> => {
  const pending = await pendingMigrations(DATABASE_URL, MODULES);
  return pending.length === 0
    ? ok('the schema matches this program')
    : failure(`not applied: ${pending.join(', ')}`, 'Run ops migrate.');
};

/** The operator learns of a lost key-encryption key before customers do. */
const checkKeys = async (pool: Pool, epochKeys: EpochKeys): Promise<Verdict> => {
  const { rows } = await pool.query<{ subject_id: string }>(
    `(select subject_id from platform.subject_key order by created_at limit 1)
     union (select subject_id from platform.subject_key order by created_at desc limit 1)`,
  );
  const keys = new SubjectKeys(pool, epochKeys);
  try {
    for (const { subject_id } of rows) await keys.find(subject_id);
  } catch (error) {
    return failure(
      `A sealed key cannot be opened: ${(error as Error).message}`,
      'Put the missing key back into ENCRYPTION_KEYS, or into KEY_DIRECTORY: ops keys status.',
    );
  }
  const { id } = await epochKeys.current();
  return ok(
    rows.length === 0
      ? `nothing is sealed yet; ${id} will seal new keys`
      : `the oldest and the newest seal open; ${id} seals new keys`,
  );
};

/**
 * An operator declared it lost while the wrong folder was mounted, or an old copy of the folder came back. Readings that it
 * wraps answer 410, and nothing else destroys it.
 */
export const checkDestroyedKeys = async (
  pool: Pool,
  keys: Pick<EpochKeys, 'store' | 'requireStore'>,
): Promise<Verdict> => {
  const names = new Set(await keys.store?.list());
  const found: string[] = [];
  for (const row of await new EpochRows(pool).all())
    if (row.provider === 'file' && row.destroyedAt !== null && names.has(row.epoch))
      if (await keyOpens(keys, row)) found.push(row.epoch);
  const [first] = found;
  if (first === undefined) return ok('no key that counts as destroyed is left');
  return failure(
    `KEY_DIRECTORY has keys that open, of epochs that count as destroyed: ${found.join(', ')}`,
    `Run ops keys remember ${first} --yes, and so for each: its readings open again, and workers destroy the key when it is due.`,
  );
};

const checkIssuerKeys = async ({ queries }: Session): Promise<Verdict> => {
  const { source, used, unused, failure: reason } = await queries.execute(new ExamineIssuerKeys());
  if (source === 'nowhere') return ok('none are accepted: no issuer is configured');
  if (reason !== null)
    return failure(
      `the issuer’s keys cannot be fetched: ${reason}`,
      'Is TOKEN_JWKS_URL right and reachable from here?',
    );
  const some = `${used} ${used === 1 ? 'key' : 'keys'} of the issuer usable`;
  if (unused.length === 0 && used > 0) return ok(some);
  const others = unused.map(({ name, reason: why }) => `; not ${name}: ${why}`).join('');
  const advice = 'Tokens signed with such a key are refused: publish EdDSA or RS256 keys with unique kids.';
  return (used === 0 ? failure : warning)(`${some}${others}`, advice);
};

/** The disk of the embedded stack's folder. Stores on other machines are not checked. */
const checkDisk = async ({ DISK_FOLDER: folder, DISK_RESERVE_MIB: reserve }: Config): Promise<Verdict> => {
  if (folder === undefined) return ok('not checked: DISK_FOLDER is not set');
  const { bsize, blocks, bavail } = await statfs(folder);
  const free = (bavail * bsize) / 2 ** 20;
  const message = `${Math.round((1 - bavail / blocks) * 100)} % used, ${Math.floor(free)} MiB free at ${folder}`;
  const advice = 'Free some space, or move DATA_DIR to a larger disk.';
  if (free < reserve)
    return failure(`${message}: new work is refused below ${reserve} MiB (DISK_RESERVE_MIB)`, advice);
  return free < 4 * reserve
    ? warning(`${message}; new work is refused below ${reserve} MiB`, advice)
    : ok(message);
};

export const STORES: readonly Check[] = [
  check('postgres', POSTGRES, ({ pool }) => checkPostgres(pool)),
  check('event store', EVENTS, ({ store, config }) => checkEventStore(store, config)),
];

export const STORE_CHECKS: readonly Check[] = [
  // The first two: checks that meet damage or lack a table share their findings.
  check('event store file', [], ({ config }) => checkStoreFile(config)),
  check('tables', BOTH, checkTables),
  check('clock', POSTGRES, ({ time }) => checkClock(time)),
  check('certificates', [], ({ config }) => checkCertificates(config, Date.now())),
  check('database role', POSTGRES, ({ pool }) => checkDatabaseRole(pool)),
  check('connections', POSTGRES, ({ pool, config }) => checkConnections(pool, config)),
  check('sessions', POSTGRES, ({ pool }) => checkSessions(pool)),
  check('standby', POSTGRES, ({ config }) => checkStandby(config)),
  check('migrations', POSTGRES, ({ config }) => checkMigrations(config)),
  check('encryption keys', POSTGRES, ({ pool, keys }) => checkKeys(pool, keys)),
  check('destroyed keys', POSTGRES, ({ pool, keys }) => checkDestroyedKeys(pool, keys)),
  check('bearer tokens', [], checkIssuerKeys),
];

export const DISK: Check = check('disk', [], ({ config }) => checkDisk(config));
