import { statfs } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { Pool } from 'pg';
import { hostOf, readAddress, type StoreAddress } from '#event-sourcing/store/address.js';
import type { Role } from '#event-sourcing/store/connection.js';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { EpochRows, type EpochKeys } from '#platform/crypto/epochs/epoch-keys.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import { adviceOn, type FaultKind } from '#platform/fault/fault.js';
import { pendingMigrations, roleStanding } from '#platform/postgres/schemas.js';
import { POSTGRES_LEAST, POSTGRES_TESTED } from '#platform/postgres/pool.js';
import { ABSENT_AFTER_MS } from '#platform/time/heartbeat.js';
import type { TrustedTime } from '#platform/time/trusted-time.js';
import { MODULES } from '../../../service/src/modules.js';
import type { Config } from '../../../service/src/settings.js';
import { findMissingTables } from '../../../service/src/tables.js';
import type { Session } from '../session.js';
import { keyOpens } from './keys.js';

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
  const message = [
    ...(cluster ? [describeCluster(cluster)] : []),
    `head at ${head ?? 'no event'}, answered in ${took} ms`,
  ].join(', ');
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

const checkTables = async ({ pool, config }: Session): Promise<readonly Verdict[]> => {
  // Tables that are not made yet are a matter for the check of migrations.
  if ((await pendingMigrations(config.DATABASE_URL, MODULES)).length > 0) return [];
  const missing = await findMissingTables(pool);
  return missing.length === 0
    ? [ok('every table exists')]
    : [
        failure(
          `missing: ${missing.join(', ')}`,
          'docs/runbook.md, "Lost tables", says what brings each back.',
          'table_missing',
        ),
      ];
};

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
  // The first: checks that lack a table share its finding.
  check('tables', POSTGRES, checkTables),
  check('clock', POSTGRES, ({ time }) => checkClock(time)),
  check('database role', POSTGRES, ({ pool }) => checkDatabaseRole(pool)),
  check('connections', POSTGRES, ({ pool, config }) => checkConnections(pool, config)),
  check('migrations', POSTGRES, ({ config }) => checkMigrations(config)),
  check('encryption keys', POSTGRES, ({ pool, keys }) => checkKeys(pool, keys)),
  check('destroyed keys', POSTGRES, ({ pool, keys }) => checkDestroyedKeys(pool, keys)),
];

export const DISK: Check = check('disk', [], ({ config }) => checkDisk(config));
