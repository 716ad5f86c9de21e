import type { ModuleManifest } from '../manifest.js';
import { existsSync, readdirSync } from 'node:fs';
import pg from 'pg';
import { projectPath } from '../project-path.js';
import { LONGEST_PAUSE_MS } from '#event-sourcing/projections/checkpoint.js';

/** Modules with their own SQL, in the order in which it may reference earlier modules. */
export type Migrated = readonly Pick<ModuleManifest, 'name'>[];

/** Every library with its own SQL, in migration order. */
export const migratedLibraries = (modules: Migrated): readonly string[] => [
  'event-sourcing',
  'platform',
  ...modules.map(({ name }) => name),
];

/** A library's schema, and the table of its migrations. */
export const schemaOf = (library: string): string => library.replaceAll('-', '_');

/** The schema of the tables of applied migrations. */
export const MIGRATIONS_SCHEMA = 'migrations';
/** The schema of graphile-worker's jobs. */
export const JOBS_SCHEMA = 'graphile_worker';

/** Schemas whose rows the service reads and writes. */
export const dataSchemas = (modules: Migrated): readonly string[] => migratedLibraries(modules).map(schemaOf);
/** All schemas of the service. */
export const serviceSchemas = (modules: Migrated): readonly string[] => [
  ...dataSchemas(modules),
  MIGRATIONS_SCHEMA,
  JOBS_SCHEMA,
];

/**
 * The operational tables of kernel and platform. The schemas `graphile_worker` (jobs) and `migrations` are entirely
 * operational.
 */
const OWN_TABLES: Readonly<Record<string, string>> = {
  'event_sourcing.consumer': 'checkpoints; without those of processes, effects would repeat',
  'event_sourcing.parked_stream': 'streams that wait for a consumer, and why',
  'event_sourcing.projection_version': 'versions of projection tables',
  'platform.subject_key': 'data keys of readings: deleting one erases what it sealed',
  'platform.key_epoch': 'when the keys that wrap them started and were destroyed; the keys are elsewhere',
  'platform.installation': 'which DIGEST_KEY this database is used with',
  'platform.heartbeat': 'workers that are alive',
  'platform.rate_bucket': 'token buckets; may be lost',
  'platform.idempotent_request': 'answers to idempotent requests, for seven days',
  'platform.job_turn': 'whose turn it is among waiting jobs; may be lost',
  'platform.audit_record': 'who requested what, for AUDIT_RETENTION_DAYS',
  'platform.audit_loss': 'when requests went without an audit record, and how many',
  'platform.retention_round': 'when each kind of data was last deleted after its term',
};

/** The tables of these modules that exist only in PostgreSQL: no event can rebuild them, so every backup needs them. */
export const operationalTables = (
  modules: readonly Pick<ModuleManifest, 'operationalTables'>[],
): Readonly<Record<string, string>> =>
  Object.assign({}, OWN_TABLES, ...modules.map(({ operationalTables: tables }) => tables)) as Record<
    string,
    string
  >;

/** The folder of a library's migrations. */
export const migrationsOf = (owner: string): string => projectPath('libs', owner, 'migrations');

/** Migrations of this program that are not applied to the database, as `<library>/<name>`. */
export const pendingMigrations = async (
  databaseUrl: string,
  modules: Migrated,
): Promise<readonly string[]> => {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const pending: string[] = [];
    for (const owner of migratedLibraries(modules)) {
      const names = existsSync(migrationsOf(owner))
        ? readdirSync(migrationsOf(owner)).map((file) => file.replace(/[.]sql$/, ''))
        : [];
      const { rows } = await client.query<{ there: boolean }>('select to_regclass($1) is not null as there', [
        `migrations.${schemaOf(owner)}`,
      ]);
      const applied = rows[0]?.there
        ? (await client.query<{ name: string }>(`select name from migrations.${schemaOf(owner)}`)).rows
        : [];
      const known = new Set(applied.map(({ name }) => name));
      pending.push(...names.filter((name) => !known.has(name)).map((name) => `${owner}/${name}`));
    }
    return pending;
  } finally {
    await client.end();
  }
};

const name = (identifier: string): string => pg.escapeIdentifier(identifier);

/**
 * Exactly the rights that API and worker need: the rows of every table; for the migration tables, only to read them.
 * Default rights cover tables that the owner creates later, such as the next version of a read model.
 */
const grants = (modules: Migrated, application: string): readonly string[] => {
  const role = name(application);
  const rights = (schema: string, tables: string): string[] => [
    `grant usage on schema ${name(schema)} to ${role}`,
    `grant ${tables} on all tables in schema ${name(schema)} to ${role}`,
    `grant usage, select on all sequences in schema ${name(schema)} to ${role}`,
    `alter default privileges in schema ${name(schema)} grant ${tables} on tables to ${role}`,
    `alter default privileges in schema ${name(schema)} grant usage, select on sequences to ${role}`,
  ];
  const rows = 'select, insert, update, delete';
  return [
    ...dataSchemas(modules).flatMap((schema) => rights(schema, rows)),
    ...rights(MIGRATIONS_SCHEMA, 'select'),
    ...rights(JOBS_SCHEMA, rows),
    `revoke insert, update, delete on ${name(JOBS_SCHEMA)}.migrations from ${role}`,
  ];
};

/** The job tables show their rows only to their owner, unless a policy allows more. */
const policies = async (client: pg.ClientBase, application: string): Promise<readonly string[]> => {
  const { rows } = await client.query<{ table: string }>(
    `select format('%I.%I', n.nspname, c.relname) as table
     from pg_class c join pg_namespace n on n.oid = c.relnamespace
     where n.nspname = $1 and c.relrowsecurity and not exists (
       select from pg_policy p
       where p.polrelid = c.oid and (select oid from pg_roles where rolname = $2) = any(p.polroles))
     order by 1`,
    [JOBS_SCHEMA, application],
  );
  const policy = name(`all rows for ${application}`.slice(0, 63));
  return rows.map(
    ({ table }) =>
      `create policy ${policy} on ${table} to ${name(application)} using (true) with check (true)`,
  );
};

/** Lock id, an arbitrary number: concurrent grants would fail with "tuple concurrently updated". */
const GRANTING = 7_230_164;

/**
 * Gives the application's role its rights on the tables that the connected role owns. Safe to repeat, and to run on
 * many machines at once.
 */
export const grantToApplication = async (
  client: pg.ClientBase,
  modules: Migrated,
  application: string,
): Promise<void> => {
  await client.query(`begin; set local idle_in_transaction_session_timeout = ${LONGEST_PAUSE_MS}`);
  try {
    await client.query('select pg_advisory_xact_lock($1)', [GRANTING]);
    for (const statement of [...grants(modules, application), ...(await policies(client, application))]) {
      await client.query(statement);
    }
    await client.query('commit');
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
};

/** The rights of a role beyond reading and writing rows. */
interface RoleStanding {
  readonly role: string;
  readonly superuser: boolean;
  /** Whether it may create roles or databases, replicate, or bypass row-level security. */
  readonly administrator: boolean;
  /** Whether it owns schemas or tables of the service, or may act as their owner. */
  readonly owner: boolean;
}

/** The rights of a pool's own role. */
export const roleStanding = async (pool: pg.Pool, modules: Migrated): Promise<RoleStanding> => {
  const { rows } = await pool.query<RoleStanding>(
    `select r.rolname as role, r.rolsuper as superuser,
            r.rolcreaterole or r.rolcreatedb or r.rolreplication or r.rolbypassrls as administrator,
            exists (select from pg_namespace n
                    where n.nspname = any($1)
                      and (pg_has_role(r.oid, n.nspowner, 'member')
                        or exists (select from pg_class c
                                   where c.relnamespace = n.oid and pg_has_role(r.oid, c.relowner, 'member')))) as owner
     from pg_roles r where r.rolname = current_user`,
    [serviceSchemas(modules)],
  );
  return rows[0]!;
};
