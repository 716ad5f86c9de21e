import pg from 'pg';
import { LONGEST_PAUSE_MS } from '#event-sourcing/projections/checkpoint.js';
import { JOBS_SCHEMA, MIGRATIONS_SCHEMA, dataSchemas, serviceSchemas, type Migrated } from './schemas.js';

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
