import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { copyIn } from '#platform/postgres/copy.js';
import { JOBS_SCHEMA, migratedLibraries, serviceSchemas } from '#platform/postgres/schemas.js';
import { projectPath } from '#platform/project-path.js';
import { MODULES } from '../../../service/src/modules.js';
import { OpsError } from '../ops-error.js';
import { copyInText, onDatabase, quoted, tableNames, type OnTable } from './copy-tables.js';
import type { ErasedReading } from './erased-reading.js';
import type { Manifest, TableCopy } from './manifest.js';
import { lowestValue, readRows } from './table-file.js';

/** Migrations of the backup that this program does not have: a newer program took the backup. */
export const unknownMigrations = ({ postgres }: Manifest): readonly string[] =>
  Object.entries(postgres.migrations).flatMap(([library, names]) => {
    const folder = projectPath('libs', library, 'migrations');
    const known = existsSync(folder) ? readdirSync(folder).map((file) => file.replace(/[.]sql$/, '')) : [];
    const isLibrary = migratedLibraries(MODULES).includes(library);
    return names.filter((name) => !isLibrary || !known.includes(name)).map((name) => `${library}/${name}`);
  });

/** Tables with rows that an unused installation has too. */
const IN_UNUSED = new Set(['platform.key_sweep', 'platform.installation']);

/** Tables of the service with rows. The job tables of an unused installation have some. */
export const filledTables = (url: string): Promise<readonly string[]> =>
  onDatabase(url, async (client) => {
    const filled: string[] = [];
    for (const name of await tableNames(client)) {
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
 * Fills the tables of a freshly migrated database in one transaction: all rows, or none.
 * @param url of the role that owns the tables
 * @param erased settles the tables in the same transaction, as {@link settleTables} does: the keys of these readings are
 * never there. `null` leaves the tables as they were backed up
 * @returns how many keys were kept out
 * @throws OpsError when a table's rows differ from the manifest
 */
export const loadTables = (
  url: string,
  folder: string,
  { postgres }: Manifest,
  onTable: OnTable,
  erased: readonly ErasedReading[] | null = null,
): Promise<number> =>
  onDatabase(url, async (client) => {
    await client.query('begin');
    // Migrations put rows into some tables.
    await client.query(`truncate ${(await tableNames(client)).map(quoted).join(', ')}`);
    for (const [done, table] of postgres.tables.entries()) {
      const { name, columns, rows, file } = table;
      onTable(done, postgres.tables.length);
      if (name === 'webhooks.settled_delivery') await addWeeks(client, folder, table, postgres.takenAt);
      await client.query(`alter table ${quoted(name)} disable trigger user`);
      await copyIn(client, copyInText(name, columns), readRows(join(folder, file.path)));
      await client.query(`alter table ${quoted(name)} enable trigger user`);
      const { rows: counted } = await client.query<{ rows: string }>(
        `select count(*) as rows from ${quoted(name)}`,
      );
      if (Number(counted[0]!.rows) !== rows)
        throw new OpsError(`${name} has ${counted[0]!.rows} rows after loading, instead of ${rows}.`);
    }
    for (const { name, value, isCalled } of postgres.sequences)
      await client.query('select setval($1::regclass, $2::bigint, $3)', [quoted(name), value, isCalled]);
    const keptOut = erased === null ? 0 : await settle(client, erased);
    await client.query('commit');
    return keptOut;
  });

/** Its migration makes the weeks from now on; the default partition would take all earlier ones (docs/adr/0031). */
const addWeeks = async (
  client: pg.ClientBase,
  folder: string,
  { columns, file }: TableCopy,
  takenAt: string,
): Promise<void> => {
  const since = await lowestValue(join(folder, file.path), columns.indexOf('settled_at'));
  if (since !== null) await client.query('select webhooks.add_partitions($1, $2)', [since, takenAt]);
};

/**
 * Prepares loaded tables for a new life: no worker holds a job, no version is being built, links to documents are ended,
 * and what was erased stays erased.
 * @param erased readings whose keys must not return
 * @returns how many keys were kept out
 */
export const settleTables = (url: string, erased: readonly ErasedReading[]): Promise<number> =>
  onDatabase(url, async (client) => {
    await client.query('begin');
    const keptOut = await settle(client, erased);
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
  // One that was revoked after the backup would give its document again (docs/adr/0028). Older backups have no links.
  `do $$ begin
     if to_regclass('publishing.document_link') is not null then
       update publishing.document_link set revoked_at = now() where revoked_at is null;
     end if;
   end $$`,
];

/**
 * Number of sessions of API and workers on this database. Only a superuser sees what other roles' sessions do; everybody
 * sees whose they are.
 */
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
