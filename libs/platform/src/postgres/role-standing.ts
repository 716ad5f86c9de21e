import type { Pool } from 'pg';
import { serviceSchemas, type Migrated } from './schemas.js';

/** The rights of a role beyond reading and writing rows. */
export interface RoleStanding {
  readonly role: string;
  readonly superuser: boolean;
  /** Whether it may create roles or databases, replicate, or bypass row-level security. */
  readonly administrator: boolean;
  /** Whether it owns schemas or tables of the service, or may act as their owner. */
  readonly owner: boolean;
}

/** The rights of a pool's own role. */
export const roleStanding = async (pool: Pool, modules: Migrated): Promise<RoleStanding> => {
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
