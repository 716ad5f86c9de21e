import { createHash } from 'node:crypto';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { copyOut } from '#platform/postgres/copy.js';
import {
  dataSchemas,
  JOBS_SCHEMA,
  migratedLibraries,
  MIGRATIONS_SCHEMA,
  schemaOf,
} from '#platform/postgres/schemas.js';
import { MODULES } from '../../../service/src/modules.js';
import { describeFile, syncPath, type Manifest, type TableCopy } from './manifest.js';
import { RowsFile } from './table-file.js';

/** Tables that say how the service runs right now: they mean nothing after a restore. */
const MOMENTARY = ['platform.heartbeat', 'platform.rate_bucket', `${JOBS_SCHEMA}.migrations`];
/** Tables of versions that are being built or were replaced: `ops projections rebuild` makes them again. */
const OTHER_VERSION = /__v[0-9]+$/;
const FOLDER = 'postgres';

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

/** Called with the table that is being copied. */
export type OnTable = (done: number, total: number) => void;

/** Copies every table of the service in one snapshot into `<folder>/postgres`. Writers are not blocked. */
export const copyTables = (url: string, folder: string, onTable: OnTable): Promise<Manifest['postgres']> =>
  onDatabase(url, async (client) => {
    mkdirSync(join(folder, FOLDER), { mode: 0o700 });
    await client.query('begin isolation level repeatable read read only');
    const { rows: now } = await client.query<{ version: string; at: Date }>(
      `select current_setting('server_version') as version, clock_timestamp() as at`,
    );
    const tables: TableCopy[] = [];
    const names = await tableNames(client);
    for (const name of names) {
      onTable(tables.length, names.length);
      tables.push(await copyTable(client, folder, name));
    }
    const postgres = {
      version: now[0]!.version,
      takenAt: now[0]!.at.toISOString(),
      migrations: await appliedMigrations(client),
      jobs: await lastJobsMigration(client),
      tables,
      sequences: await sequences(client),
      furthestCheckpoint: await furthestCheckpoint(client),
    };
    await client.query('commit');
    syncPath(join(folder, FOLDER));
    return postgres;
  });

const copyTable = async (client: pg.ClientBase, folder: string, name: string): Promise<TableCopy> => {
  const columns = await columnsOf(client, name);
  const path = join(FOLDER, `${name}.gz`);
  const file = new RowsFile(join(folder, path));
  try {
    await copyOut(client, await copyOutText(client, name, columns), (row) => file.add(row));
  } catch (error) {
    file.close();
    throw error;
  }
  return { name, columns, ...file.end(), file: describeFile(folder, path) };
};

/** Rows and checksum of a table as {@link copyTables} would copy it. */
export const fingerprintTable = async (
  client: pg.ClientBase,
  { name, columns }: Pick<TableCopy, 'name' | 'columns'>,
): Promise<Pick<TableCopy, 'rows' | 'sha256'>> => {
  const hash = createHash('sha256');
  let rows = 0;
  await copyOut(client, await copyOutText(client, name, columns), (row) => {
    hash.update(row);
    rows += 1;
  });
  return { rows, sha256: hash.digest('hex') };
};

const listed = (columns: readonly string[]): string =>
  columns.map((column) => pg.escapeIdentifier(column)).join(', ');

/** Fills a table with what {@link copyTables} copied. */
export const copyInText = (name: string, columns: readonly string[]): string =>
  `copy ${quoted(name)} (${listed(columns)}) from stdin`;

/** The rows of a partitioned table in an order that does not depend on its partitions: a restored one has others. */
const copyOutText = async (
  client: pg.ClientBase,
  name: string,
  columns: readonly string[],
): Promise<string> => {
  const { rowCount } = await client.query(`select from pg_class where oid = $1::regclass and relkind = 'p'`, [
    quoted(name),
  ]);
  return rowCount === 0
    ? `copy ${quoted(name)} (${listed(columns)}) to stdout`
    : `copy (select ${listed(columns)} from ${quoted(name)} order by 1) to stdout`;
};

/** `schema.table` with both names quoted. */
export const quoted = (name: string): string => {
  const [schema = '', table = ''] = name.split('.');
  return `${pg.escapeIdentifier(schema)}.${pg.escapeIdentifier(table)}`;
};

/** Every table that a backup holds, by name. One with partitions is one table. */
export const tableNames = async (client: pg.ClientBase): Promise<readonly string[]> => {
  const { rows } = await client.query<{ name: string }>(
    `select n.nspname || '.' || c.relname as name
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where c.relkind in ('r', 'p') and not c.relispartition and n.nspname = any($1) order by 1`,
    [[...dataSchemas(MODULES), JOBS_SCHEMA]],
  );
  return rows
    .map(({ name }) => name)
    .filter((name) => !MOMENTARY.includes(name) && !OTHER_VERSION.test(name));
};

/** PostgreSQL computes generated columns itself. */
const columnsOf = async (client: pg.ClientBase, table: string): Promise<string[]> => {
  const { rows } = await client.query<{ name: string }>(
    `select attname as name from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum`,
    [quoted(table)],
  );
  return rows.map(({ name }) => name);
};

/** Names of the applied migrations, by library. */
export const appliedMigrations = async (client: pg.ClientBase): Promise<Record<string, string[]>> => {
  const applied: Record<string, string[]> = {};
  for (const library of migratedLibraries(MODULES)) {
    const table = `${MIGRATIONS_SCHEMA}.${schemaOf(library)}`;
    const { rows: there } = await client.query('select to_regclass($1) as oid', [table]);
    if ((there[0] as { oid: unknown }).oid === null) continue;
    const { rows } = await client.query<{ name: string }>(`select name from ${quoted(table)} order by name`);
    applied[library] = rows.map(({ name }) => name);
  }
  return applied;
};

const lastJobsMigration = async (client: pg.ClientBase): Promise<number> => {
  const { rows } = await client.query<{ id: number }>(`select max(id) as id from ${JOBS_SCHEMA}.migrations`);
  return rows[0]!.id;
};

const sequences = async (client: pg.ClientBase): Promise<Manifest['postgres']['sequences']> => {
  const { rows } = await client.query<{ name: string }>(
    `select schemaname || '.' || sequencename as name from pg_sequences where schemaname = any($1) order by 1`,
    [[...dataSchemas(MODULES), JOBS_SCHEMA]],
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
export const furthestCheckpoint = async (client: pg.ClientBase): Promise<string | null> => {
  const { rows } = await client.query<{ position: string | null }>(
    'select max(position)::text as position from event_sourcing.consumer',
  );
  return rows[0]!.position;
};
