import { statfs } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Pool } from 'pg';
import type { EventStore } from '@app/event-sourcing/store/event-store.js';
import { SubjectKeys } from '@app/platform/crypto/subject-keys.js';
import type { EpochKeys } from '@app/platform/crypto/epochs/epoch-keys.js';
import { pendingMigrations } from '@app/platform/postgres/migrate.js';
import { roleStanding } from '@app/platform/postgres/role-standing.js';
import { failure, graded, ok, warning, type Finding } from './finding.js';
import { MODULES } from '../../../../service/src/modules.js';
import type { Config } from '../../../../service/src/settings.js';

/** PostgreSQL versions: older ones are not tested; those below the first lack what the SQL uses. */
const POSTGRES_LEAST = 150_000;
const POSTGRES_TESTED = 180_000;
/** Milliseconds of difference between this clock and the database's. */
const SKEW_MS = [500, 5_000] as const;
/** Part of the disk that is used. */
const DISK_USED = [0.85, 0.95] as const;
const INFO_WITHIN_MS = 1_000;

export const checkPostgres = async (pool: Pool): Promise<Finding> => {
  const check = 'postgres';
  const { rows } = await pool.query<{ version: string; number: number; size: string }>(
    `select current_setting('server_version') as version, current_setting('server_version_num')::int as number,
            pg_size_pretty(pg_database_size(current_database())) as size`,
  );
  const { version, number, size } = rows[0]!;
  const message = `PostgreSQL ${version}, database of ${size}`;
  if (number < POSTGRES_LEAST)
    return failure(check, message, 'Upgrade to PostgreSQL 18; 15 is the oldest that can work.');
  return number < POSTGRES_TESTED
    ? warning(check, message, 'It is tested on PostgreSQL 18: plan an upgrade.')
    : ok(check, message);
};

/** Without TLS an EventStoreDB asks for no login, and its client sends none. */
const OPEN = /[?&]tls=false(&|$)/i;

export const checkEventStore = async (store: EventStore, { EVENTSTORE_URL }: Config): Promise<Finding> => {
  const startedAt = performance.now();
  const head = await store.head();
  const took = Math.round(performance.now() - startedAt);
  const message = `${await eventStoreVersion(EVENTSTORE_URL)}, head at ${head ?? 'no event'}, answered in ${took} ms`;
  return OPEN.test(EVENTSTORE_URL)
    ? warning(
        'event store',
        `${message}; without TLS and login`,
        'Whoever reaches its port can append events: give it certificates, then ops event-store prepare (docs/operations.md).',
      )
    : ok('event store', message);
};

/** EventStoreDB tells its version over HTTP, to who trusts its CA: fetch knows no tlsCAFile. The embedded store tells none. */
const eventStoreVersion = async (url: string): Promise<string> => {
  const { host, searchParams } = new URL(url.replace(/^esdb(\+discover)?:/, 'http:'));
  const scheme = searchParams.get('tls') === 'false' ? 'http' : 'https';
  try {
    const answer = await fetch(`${scheme}://${host}/info`, { signal: AbortSignal.timeout(INFO_WITHIN_MS) });
    return `EventStoreDB ${((await answer.json()) as { esVersion: string }).esVersion}`;
  } catch {
    return 'reachable, version not told';
  }
};

export const checkClock = async (pool: Pool): Promise<Finding> => {
  const before = Date.now();
  const { rows } = await pool.query<{ now: number }>(
    'select extract(epoch from clock_timestamp())::float8 * 1000 as now',
  );
  const after = Date.now();
  // What the answer took is no difference of clocks.
  const skew = Math.max(0, before - rows[0]!.now, rows[0]!.now - after);
  return graded(
    'clock',
    skew,
    SKEW_MS,
    `${Math.round(skew)} ms apart from the database`,
    'Synchronise the clocks (NTP): leases, timers and signatures depend on them.',
  );
};

/** Opens the oldest and the newest data key: whoever lost a key-encryption key should know before a customer does. */
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
      `A known seal cannot be opened: ${(error as Error).message}`,
      'Put the missing key back into ENCRYPTION_KEYS, or where KEY_PROVIDER keeps it: ops keys status.',
    );
  }
  const { id } = await epochKeys.current();
  return ok(
    check,
    rows.length === 0
      ? `nothing is sealed yet; ${id} will seal`
      : `the oldest and the newest seal open; ${id} seals`,
  );
};

/** A role that may do more than read and write rows hands that on to whoever finds a way into the program. */
export const checkDatabaseRole = async (pool: Pool): Promise<Finding> => {
  const check = 'database role';
  const { role, superuser, administrator, owner } = await roleStanding(pool, MODULES);
  const may = [
    ...(superuser ? ['is a superuser'] : []),
    ...(administrator && !superuser ? ['may make roles or databases'] : []),
    ...(owner && !superuser ? ['owns tables of the service'] : []),
  ];
  return may.length === 0
    ? ok(check, `${role} may read and write rows, and no more`)
    : warning(
        check,
        `${role} ${may.join(' and ')}`,
        'Give the service a role of its own: ops database prepare, then ops migrate (docs/operations.md).',
      );
};

export const checkMigrations = async ({ DATABASE_URL }: Config): Promise<Finding> => {
  const pending = await pendingMigrations(DATABASE_URL, MODULES);
  return pending.length === 0
    ? ok('migrations', 'the schema is that of this program')
    : failure('migrations', `not applied: ${pending.join(', ')}`, 'Run ops migrate.');
};

/** The folder of the embedded stack, when it is on this machine. */
export const checkDisk = async (environment: NodeJS.ProcessEnv): Promise<Finding> => {
  const check = 'disk';
  if (environment['DATABASE_URL']) return ok(check, 'not looked at: the stores are elsewhere');
  const folder = resolve(environment['DATA_DIR'] ?? '.data');
  const { bsize, blocks, bavail } = await statfs(folder);
  const used = 1 - bavail / blocks;
  const free = ((bavail * bsize) / 2 ** 30).toFixed(1);
  return graded(
    check,
    used,
    DISK_USED,
    `${Math.round(used * 100)} % used, ${free} GiB free at ${folder}`,
    'Free some space, or move DATA_DIR to a larger disk.',
  );
};
