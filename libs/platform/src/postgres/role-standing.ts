import type { Pool } from 'pg';
import { serviceSchemas, type Migrated } from './schemas.js';

/** What a role may do beyond reading and writing rows. */
export interface RoleStanding {
  readonly role: string;
  readonly superuser: boolean;
  /** It may make roles or databases, replicate, or pass row-level security by. */
  readonly administrator: boolean;
  /** It owns schemas or tables of the service, or may act as the role that does. */
  readonly owner: boolean;
}

/** Of the role that a pool connects as. */
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
