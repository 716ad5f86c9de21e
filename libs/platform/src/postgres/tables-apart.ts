import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { migrationsOf } from './pending-migrations.js';
import { JOBS_SCHEMA, MIGRATIONS_SCHEMA, schemaOf } from './schemas.js';

/** A table of a library, `<schema>.<table>`, while it waits apart. */
export const apart = (table: string): string => table.replace('.', '__restoring.');

const apartSchema = (library: string): string => `${schemaOf(library)}__restoring`;

/**
 * Makes the tables of a library once more, without rows, in a schema of their own: its applied migrations run again
 * there. Nothing else is touched.
 */
export const makeApart = async (client: pg.ClientBase, library: string): Promise<void> => {
  const schema = schemaOf(library);
  const own = apartSchema(library);
  const { rows } = await client.query<{ name: string }>(
    `select name from ${MIGRATIONS_SCHEMA}.${schema} order by id`,
  );
  await client.query(`drop schema if exists ${own} cascade; create schema ${own}`);
  for (const { name } of rows) await client.query(inSchema(upOf(library, name), schema, own));
};

/** Moves tables that wait apart to their places, with the application's rights on them. In the caller's transaction. */
export const moveFromApart = async (
  client: pg.ClientBase,
  tables: readonly string[],
  application: string,
): Promise<void> => {
  const role = pg.escapeIdentifier(application);
  for (const table of tables) {
    const [schema = ''] = table.split('.');
    await client.query(`create schema if not exists ${schema}; grant usage on schema ${schema} to ${role}`);
    await client.query(`alter table ${apart(table)} set schema ${schema}`);
    await client.query(`grant select, insert, update, delete on ${table} to ${role}`);
  }
};

export const dropApart = async (client: Pick<pg.Pool, 'query'>, library: string): Promise<void> => {
  await client.query(`drop schema if exists ${apartSchema(library)} cascade`);
};

/** What a migration does, without what undoes it. */
const upOf = (library: string, name: string): string =>
  readFileSync(join(migrationsOf(library), `${name}.sql`), 'utf8').split(
    /^\s*--[\s-]*down migration.*$/im,
  )[0]!;

/** The same statements for another schema: migrations always write a name with its schema. */
const inSchema = (text: string, from: string, to: string): string =>
  text
    .replace(new RegExp(`\\b${from}\\.(?=\\w)`, 'g'), `${to}.`)
    .replace(new RegExp(`(\\bschema\\s+(?:if not exists\\s+)?)${from}\\b`, 'gi'), `$1${to}`);

/** Installs the job queue anew, without jobs, when one of its tables was dropped. */
export const makeJobTables = async (pool: pg.Pool): Promise<void> => {
  const { runMigrations: installJobs } = await import('graphile-worker');
  await pool.query(`drop schema if exists ${JOBS_SCHEMA} cascade`);
  await installJobs({ pgPool: pool });
};
