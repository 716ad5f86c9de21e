import { statfs } from 'node:fs/promises';
import { isIP } from 'node:net';
import type { Pool } from 'pg';
import type { EventStore } from '#event-sourcing/store/event-store.js';
import { MOST_APPEND_BYTES } from '#event-sourcing/store/defaults.js';
import { SubjectKeys } from '#platform/crypto/subject-keys.js';
import type { EpochKeys } from '#platform/crypto/epochs/epoch-keys.js';
import { pendingMigrations } from '#platform/postgres/pending-migrations.js';
import { ADVICE } from '#platform/fault/fault.js';
import { POSTGRES_LEAST, POSTGRES_TESTED } from '#platform/postgres/server-version.js';
import { roleStanding } from '#platform/postgres/role-standing.js';
import type { TrustedTime } from '#platform/time/trusted-time.js';
import { failure, ok, warning, type Finding } from './finding.js';
import { MODULES } from '../../../../service/src/modules.js';
import type { Config } from '../../../../service/src/settings.js';

interface DatabaseFacts {
  readonly version: string;
  readonly number: number;
  readonly checksums: string;
  readonly size: string;
  readonly encoding: string;
  /** Version of the collation under which its indexes were made, and now. `null`: unknown, or one that never changes. */
  readonly sorted_by: string | null;
  readonly sorts_by: string | null;
}

export const checkPostgres = async (pool: Pool): Promise<Finding> => {
  const check = 'postgres';
  const { rows } = await pool.query<DatabaseFacts>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
            current_setting('data_checksums') as checksums, pg_size_pretty(pg_database_size(oid)) as size,
            pg_encoding_to_char(encoding) as encoding, datcollversion as sorted_by,
            pg_database_collation_actual_version(oid) as sorts_by
     from pg_database where datname = current_database()`,
  );
  const { version, number, checksums, size, encoding, sorted_by: sortedBy, sorts_by: sortsBy } = rows[0]!;
  const message = `PostgreSQL ${version}, database of ${size}`;
  if (number < POSTGRES_LEAST)
    return { ...failure(check, `${message}, is too old`, ADVICE.unsupported), cause: 'unsupported' };
  if (encoding !== 'UTF8')
    return failure(
      check,
      `${message}, in ${encoding}: it cannot store every text`,
      'Make a database with encoding UTF8, and restore a backup into it.',
    );
  if (sortedBy !== null && sortedBy !== sortsBy)
    return failure(
      check,
      `${message}, was made under version ${sortedBy} of its collation and sorts by ${sortsBy} now: indexes may miss rows, and unique ones admit doubles`,
      'Stop API and worker, then reindex the database and refresh its collation version (docs/runbook.md).',
    );
  if (checksums !== 'on')
    return warning(
      check,
      `${message}, without data checksums: it would not notice damaged bytes on its disk`,
      'Stop the server, run pg_checksums --enable on its data folder, and start it again.',
    );
  return number < POSTGRES_TESTED
    ? warning(check, message, 'The service is tested on PostgreSQL 18: plan an upgrade.')
    : ok(check, message);
};

export const checkEventStore = async (store: EventStore, { EVENTSTORE_URL }: Config): Promise<Finding> => {
  const check = 'event store';
  // Imported late: it loads gRPC, as the event store's client does.
  const { askCluster, askServer, describeCluster, describeServer, isTooNarrow } =
    await import('./event-store-server.js');
  const { hostOf, readAddress } = await import('#event-sourcing/store/address.js');
  const cluster = await askCluster(EVENTSTORE_URL);
  if (cluster && cluster.leader === null)
    return {
      ...failure(
        check,
        `${describeCluster(cluster)}: there is no quorum, and nothing can be read or written`,
        'Start the missing nodes: more than half of them must reach each other.',
      ),
      cause: 'absent',
    };
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
  if (isTooNarrow(server))
    return warning(
      check,
      message,
      `The service sends up to ${MOST_APPEND_BYTES} bytes in one append: raise MaxAppendSize and MaxAppendEventSize of the server.`,
    );
  if (cluster && cluster.silent.length > 0)
    return warning(check, message, 'Start the silent nodes: without more than half, nothing can be written.');
  const { usesTls, nodes } = readAddress(EVENTSTORE_URL);
  if (!usesTls)
    return warning(
      check,
      `${message}; without TLS and login`,
      'Anyone who reaches its port can append events: install certificates, then run ops event-store prepare (docs/operations.md).',
    );
  return nodes.some((node) => isIP(hostOf(node)) !== 0)
    ? warning(
        check,
        `${message}; EVENTSTORE_URL names an IP address`,
        'Node.js deprecates TLS to an IP address (DEP0123): use a host name that the certificate has.',
      )
    : ok(check, message);
};

/** One finding for all clocks: of this machine, both servers, and the processes that report. */
export const checkClock = async (time: Pick<TrustedTime, 'compare'>): Promise<Finding> => {
  const { level, message } = await time.compare();
  const said = message[0]!.toUpperCase() + message.slice(1);
  if (level === 'refused')
    return failure(
      'clock',
      said,
      'Correct that clock (NTP). Until then, processes that see the difference do no work that time causes, and change no credit book; then run ops ledger verify --all.',
    );
  if (level === 'unknown') return warning('clock', said, 'The clocks are compared as soon as it answers.');
  return level === 'warning'
    ? warning('clock', said, 'Synchronise the clocks (NTP) before work that time causes stops.')
    : ok('clock', said);
};

/**
 * Opens the oldest and the newest data key, so that the operator learns of a lost key-encryption key before customers
 * do.
 */
export const checkKeys = async (pool: Pool, epochKeys: EpochKeys): Promise<Finding> => {
  const check = 'encryption keys';
  const { rows } = await pool.query<{ subject_id: string }>(
    `(select subject_id from platform.subject_key order by created_at limit 1)
     union (select subject_id from platform.subject_key order by created_at desc limit 1)`,
  );
  const keys = new SubjectKeys(pool, epochKeys);
  try {
    for (const { subject_id } of rows) await keys.find(subject_id);
  } catch (error) {
    return failure(
      check,
      `A sealed key cannot be opened: ${(error as Error).message}`,
      'Put the missing key back into ENCRYPTION_KEYS, or into KEY_DIRECTORY: ops keys status.',
    );
  }
  const { id } = await epochKeys.current();
  return ok(
    check,
    rows.length === 0
      ? `nothing is sealed yet; ${id} will seal new keys`
      : `the oldest and the newest seal open; ${id} seals new keys`,
  );
};

/** An attacker inside the program gets the rights of its role, so the role should only read and write rows. */
export const checkDatabaseRole = async (pool: Pool): Promise<Finding> => {
  const check = 'database role';
  const { role, superuser, administrator, owner } = await roleStanding(pool, MODULES);
  const may = [
    ...(superuser ? ['is a superuser'] : []),
    ...(administrator && !superuser ? ['may create roles or databases'] : []),
    ...(owner && !superuser ? ['owns tables of the service'] : []),
  ];
  return may.length === 0
    ? ok(check, `${role} may only read and write rows`)
    : warning(
        check,
        `${role} ${may.join(' and ')}`,
        'Give the service a role of its own: ops database prepare, then ops migrate (docs/operations.md).',
      );
};

export const checkMigrations = async ({ DATABASE_URL }: Config): Promise<Finding> => {
  const pending = await pendingMigrations(DATABASE_URL, MODULES);
  return pending.length === 0
    ? ok('migrations', 'the schema matches this program')
    : failure('migrations', `not applied: ${pending.join(', ')}`, 'Run ops migrate.');
};

/** The disk of the embedded stack's folder. Stores on other machines are not checked. */
export const checkDisk = async ({
  DISK_FOLDER: folder,
  DISK_RESERVE_MIB: reserve,
}: Config): Promise<Finding> => {
  const check = 'disk';
  if (folder === undefined) return ok(check, 'not checked: DISK_FOLDER is not set');
  const { bsize, blocks, bavail } = await statfs(folder);
  const free = (bavail * bsize) / 2 ** 20;
  const message = `${Math.round((1 - bavail / blocks) * 100)} % used, ${Math.floor(free)} MiB free at ${folder}`;
  const advice = 'Free some space, or move DATA_DIR to a larger disk.';
  if (free < reserve)
    return failure(check, `${message}: new work is refused below ${reserve} MiB (DISK_RESERVE_MIB)`, advice);
  return free < 4 * reserve
    ? warning(check, `${message}; new work is refused below ${reserve} MiB`, advice)
    : ok(check, message);
};
