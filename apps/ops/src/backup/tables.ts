import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createGunzip, gzipSync } from 'node:zlib';
import pg from 'pg';
import { copyIn, copyOut } from '#platform/postgres/copy.js';
import {
  migrationsOf,
  dataSchemas,
  JOBS_SCHEMA,
  migratedLibraries,
  MIGRATIONS_SCHEMA,
  schemaOf,
  serviceSchemas,
} from '#platform/postgres/schemas.js';
import { MODULES } from '../../../service/src/modules.js';
import { describeFile, syncPath, type ErasedReading, type Manifest, type TableCopy } from './manifest.js';

/** Tables that say how the service runs right now: they mean nothing after a restore. */
const MOMENTARY = ['platform.heartbeat', 'platform.rate_bucket', `${JOBS_SCHEMA}.migrations`];
/** Tables of versions that are being built or were replaced: `ops projections rebuild` makes them again. */
const OTHER_VERSION = /__v[0-9]+$/;
/** The one table with partitions, by weeks (docs/adr/0031). */
const PARTITIONED = 'webhooks.settled_delivery';
const FOLDER = 'postgres';
/** Bytes of rows that are compressed at a time. */
const PART_BYTES = 1 << 20;

/** Values as text that every PostgreSQL reads the same, whatever the server's settings. */
const SESSION = `set datestyle = 'ISO, YMD'; set timezone = 'UTC'; set intervalstyle = 'postgres';
  set extra_float_digits = 3; set bytea_output = 'hex'; set client_encoding = 'UTF8';
  set statement_timeout = 0; set idle_in_transaction_session_timeout = 0`;

/** A connection without time limits whose values have the same text everywhere. */
export const onDatabase = async <T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> => {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: 10_000,
    application_name: 'reading-service ops backup',
  });
  // A connection that breaks rejects its query; it must not raise an uncaught event as well.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(SESSION);
    return await work(client);
  } finally {
    await client.end();
  }
};

/** Called with how many tables are done. */
export type OnTable = (done: number, total: number) => void;

/** Copies every table of the service in one snapshot into `<folder>/postgres`. Writers are not blocked. */
export const copyTables = (url: string, folder: string, onTable: OnTable): Promise<Manifest['postgres']> =>
  onDatabase(url, async (client) => {
    mkdirSync(join(folder, FOLDER), { mode: 0o700 });
    await client.query('begin isolation level repeatable read read only');
    const { rows: now } = await client.query<{ version: string; at: Date; jobs: number }>(
      `select current_setting('server_version') as version, clock_timestamp() as at, max(id) as jobs
       from ${JOBS_SCHEMA}.migrations`,
    );
    const { version, at, jobs } = now[0]!;
    const tables: TableCopy[] = [];
    const found = await tablesOf(client);
    for (const table of found) {
      onTable(tables.length, found.length);
      const path = join(FOLDER, `${table.name}.gz`);
      const written = await writeRows(client, table, join(folder, path));
      tables.push({ ...table, ...written, file: describeFile(folder, path) });
    }
    const { rows: settled } = await client.query<{ since: Date | null }>(
      `select min(settled_at) as since from ${PARTITIONED}`,
    );
    const postgres = {
      version,
      takenAt: at.toISOString(),
      migrations: await appliedMigrations(client),
      jobs,
      tables,
      settledSince: settled[0]!.since?.toISOString() ?? null,
      sequences: await sequences(client),
      furthestCheckpoint: await furthestCheckpoint(client),
    };
    await client.query('commit');
    syncPath(join(folder, FOLDER));
    return postgres;
  });

type Table = Pick<TableCopy, 'name' | 'columns'>;
type Written = Pick<TableCopy, 'rows' | 'sha256'>;

/** Reads the rows of a table as text of `COPY`, one line per row. @returns their number and checksum */
const readTable = async (
  client: pg.ClientBase,
  { name, columns }: Table,
  onRow: (row: Buffer) => void = () => undefined,
): Promise<Written> => {
  // In an order that does not depend on partitions: a restored table has others.
  const source =
    name === PARTITIONED
      ? `(select ${listed(columns)} from ${quoted(name)} order by 1)`
      : `${quoted(name)} (${listed(columns)})`;
  const hash = createHash('sha256');
  let rows = 0;
  await copyOut(client, `copy ${source} to stdout`, (row) => {
    hash.update(row);
    rows += 1;
    onRow(row);
  });
  return { rows, sha256: hash.digest('hex') };
};

/** Writes the rows of a table into a new gzip file, a member for each part: nothing waits in memory. */
const writeRows = async (client: pg.ClientBase, table: Table, path: string): Promise<Written> => {
  const handle = openSync(path, 'wx', 0o600);
  let parts: Buffer[] = [];
  let waiting = 0;
  const flush = (): void => {
    writeFileSync(handle, gzipSync(Buffer.concat(parts), { level: 1 }));
    parts = [];
    waiting = 0;
  };
  try {
    const done = await readTable(client, table, (row) => {
      // The driver uses the memory again.
      parts.push(Buffer.from(row));
      waiting += row.length;
      if (waiting >= PART_BYTES) flush();
    });
    flush();
    fsyncSync(handle);
    return done;
  } finally {
    closeSync(handle);
  }
};

const listed = (columns: readonly string[]): string =>
  columns.map((column) => pg.escapeIdentifier(column)).join(', ');

/** `schema.table` with both names quoted. */
const quoted = (name: string): string =>
  name
    .split('.')
    .map((part) => pg.escapeIdentifier(part))
    .join('.');

const SCHEMAS = [...dataSchemas(MODULES), JOBS_SCHEMA];

/** Every table that a backup holds, by name, without columns that PostgreSQL computes. One with partitions is one table. */
const tablesOf = async (client: pg.ClientBase): Promise<readonly Table[]> => {
  const { rows } = await client.query<Table>(
    `select nspname || '.' || relname as name, array_agg(attname::text order by attnum) as columns
     from pg_class c join pg_namespace n on n.oid = relnamespace join pg_attribute on attrelid = c.oid
     where relkind in ('r', 'p') and not relispartition and nspname = any($1)
       and attnum > 0 and not attisdropped and attgenerated = ''
     group by 1 order by 1`,
    [SCHEMAS],
  );
  return rows.filter(({ name }) => !MOMENTARY.includes(name) && !OTHER_VERSION.test(name));
};

/** Names of the applied migrations, by library. */
const appliedMigrations = async (client: pg.ClientBase): Promise<Record<string, string[]>> => {
  const applied: Record<string, string[]> = {};
  for (const library of migratedLibraries(MODULES)) {
    const table = `${MIGRATIONS_SCHEMA}.${schemaOf(library)}`;
    const { rowCount } = await client.query('select where to_regclass($1) is not null', [table]);
    if (rowCount === 0) continue;
    const { rows } = await client.query<{ name: string }>(`select name from ${quoted(table)} order by name`);
    applied[library] = rows.map(({ name }) => name);
  }
  return applied;
};

const sequences = async (client: pg.ClientBase): Promise<Manifest['postgres']['sequences']> => {
  const { rows } = await client.query<{ name: string }>(
    `select schemaname || '.' || sequencename as name from pg_sequences where schemaname = any($1) order by 1`,
    [SCHEMAS],
  );
  const found: Manifest['postgres']['sequences'] = [];
  for (const { name } of rows) {
    const { rows: values } = await client.query<{ value: string; isCalled: boolean }>(
      `select last_value::text as value, is_called as "isCalled" from ${quoted(name)}`,
    );
    found.push({ name, ...values[0]! });
  }
  return found;
};

/** The furthest position that a consumer has handled. */
const furthestCheckpoint = async (client: pg.ClientBase): Promise<string | null> => {
  const { rows } = await client.query<{ position: string | null }>(
    'select max(position)::text as position from event_sourcing.consumer',
  );
  return rows[0]!.position;
};

/** Tables whose rows differ from those that were copied, a sentence each. */
export const differingTables = (url: string, { postgres }: Manifest): Promise<readonly string[]> =>
  onDatabase(url, async (client) => {
    const findings: string[] = [];
    for (const copy of postgres.tables) {
      const { rows, sha256 } = await readTable(client, copy);
      if (rows !== copy.rows || sha256 !== copy.sha256)
        findings.push(`${copy.name} differs: ${rows} rows instead of ${copy.rows}, or other values.`);
    }
    return findings;
  });

/** Number of applied migrations by library. */
export const appliedCounts = ({ postgres }: Manifest): Record<string, number> =>
  Object.fromEntries(Object.entries(postgres.migrations).map(([library, names]) => [library, names.length]));

/** Migrations of the backup that this program does not have: a newer program took the backup. */
export const unknownMigrations = ({ postgres }: Manifest): readonly string[] =>
  Object.entries(postgres.migrations).flatMap(([library, names]) => {
    const folder = migrationsOf(library);
    const isLibrary = migratedLibraries(MODULES).includes(library) && existsSync(folder);
    const known = isLibrary ? readdirSync(folder).map((file) => file.replace(/[.]sql$/, '')) : [];
    return names.filter((name) => !known.includes(name)).map((name) => `${library}/${name}`);
  });

/** Tables with rows that an unused installation has too. */
const IN_UNUSED = new Set(['platform.installation']);

/** Tables of the service with rows. The job tables of an unused installation have some. */
export const filledTables = (url: string): Promise<readonly string[]> =>
  onDatabase(url, async (client) => {
    const filled: string[] = [];
    for (const { name } of await tablesOf(client)) {
      if (name.startsWith(`${JOBS_SCHEMA}.`) || IN_UNUSED.has(name)) continue;
      const { rowCount } = await client.query(`select from ${quoted(name)} limit 1`);
      if (rowCount === 1) filled.push(name);
    }
    return filled;
  });

/** Drops the service's schemas with everything in them. */
export const dropSchemas = (url: string): Promise<void> =>
  onDatabase(url, async (client) => {
    const names = serviceSchemas(MODULES).map((schema) => client.escapeIdentifier(schema));
    await client.query(`drop schema if exists ${names.join(', ')} cascade`);
  });

/**
 * Fills the tables of a freshly migrated database, as their owner, in one transaction.
 * @param erased settles them for a new life, without the keys of these readings; `null`: as they were backed up
 * @returns how many keys were kept out
 */
export const loadTables = (
  url: string,
  folder: string,
  { postgres }: Manifest,
  onTable: OnTable,
  erased: readonly ErasedReading[] | null,
): Promise<number> =>
  onDatabase(url, async (client) => {
    await client.query('begin');
    // Migrations put rows into some tables.
    await client.query(`truncate ${(await tablesOf(client)).map(({ name }) => quoted(name)).join(', ')}`);
    // A migration makes the weeks from now on; the default partition would take all earlier ones.
    if (postgres.settledSince !== null)
      await client.query('select webhooks.add_partitions($1, $2)', [postgres.settledSince, postgres.takenAt]);
    for (const [done, { name, columns, file }] of postgres.tables.entries()) {
      onTable(done, postgres.tables.length);
      await client.query(`alter table ${quoted(name)} disable trigger user`);
      const rows = createReadStream(join(folder, file.path)).pipe(createGunzip());
      await copyIn(client, `copy ${quoted(name)} (${listed(columns)}) from stdin`, rows);
      await client.query(`alter table ${quoted(name)} enable trigger user`);
    }
    for (const { name, value, isCalled } of postgres.sequences)
      await client.query('select setval($1::regclass, $2::bigint, $3)', [quoted(name), value, isCalled]);
    const keptOut = erased === null ? 0 : await settle(client, erased);
    await client.query('commit');
    return keptOut;
  });

const settle = async (client: pg.ClientBase, erased: readonly ErasedReading[]): Promise<number> => {
  for (const statement of SETTLING) await client.query(statement);
  const ids = erased.map(({ readingId }) => readingId);
  const { rowCount } = await client.query(
    'delete from platform.subject_key where subject_id = any($1::uuid[])',
    [ids],
  );
  await client.query('delete from publishing.artifact where reading_id = any($1::uuid[])', [ids]);
  return rowCount ?? 0;
};

const SETTLING = [
  `update ${JOBS_SCHEMA}._private_jobs set locked_at = null, locked_by = null where locked_at is not null`,
  `update ${JOBS_SCHEMA}._private_job_queues set locked_at = null, locked_by = null where locked_at is not null`,
  `delete from event_sourcing.projection_version where state <> 'live'`,
  `delete from event_sourcing.consumer where name ~ '__v[0-9]+$'`,
  `delete from event_sourcing.parked_stream where consumer ~ '__v[0-9]+$'`,
  // One that was revoked after the backup would give its document again (docs/adr/0028).
  'update publishing.document_link set revoked_at = now() where revoked_at is null',
  // So would a session of the portal that was ended after it.
  `update workspaces.portal_session set ended_at = now(), link_sha256 = null, secret_sha256 = null
   where ended_at is null`,
];

/** Sessions of API and workers: everybody sees whose they are, and only a superuser what they do. */
export const serviceSessions = (url: string, application: string): Promise<number> =>
  onDatabase(url, async (client) => {
    const { rows } = await client.query<{ count: number }>(
      `select count(*)::int as count from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()
         and ((usename = $1 and usename <> current_user) or application_name ~ '^reading-service (api|worker)')`,
      [application],
    );
    return rows[0]!.count;
  });

export interface ReplacedErasures {
  readonly erased: readonly ErasedReading[];
  /** Whether the database is newer than the backup. An empty one, or the rest of a broken restore, is not. */
  readonly isNewer: boolean;
}

/** The erased readings of a database that a restore replaces. A damaged one may know none. */
export const erasedInDatabase = (url: string, { postgres }: Manifest): Promise<ReplacedErasures> =>
  onDatabase(url, async (client) => {
    const found = await client
      .query<ErasedReading>(
        `select reading_id as "readingId", workspace_id as "workspaceId" from readings.reading
         where erased_at is not null`,
      )
      .catch(() => null);
    const checkpoint = await furthestCheckpoint(client).catch(() => null);
    const isNewer = checkpoint !== null && BigInt(checkpoint) > BigInt(postgres.furthestCheckpoint ?? -1);
    return { erased: found?.rows ?? [], isNewer: found !== null && isNewer };
  });
