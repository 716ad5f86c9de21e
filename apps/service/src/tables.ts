import type { Pool } from 'pg';
import { JOBS_SCHEMA, MIGRATIONS_SCHEMA, migratedLibraries, schemaOf } from '#platform/postgres/schemas.js';
import { MODULES, OPERATIONAL_TABLES } from './modules.js';
import { PROJECTIONS } from './projections.js';

/** Every table that this program needs: those of projections, whose rows the log determines, and the others. */
const NEEDED: readonly string[] = [
  ...PROJECTIONS.flatMap(({ views }) => views.map(({ table }) => table)),
  ...Object.keys(OPERATIONAL_TABLES),
  ...['jobs', 'job_queues', 'tasks'].map((name) => `${JOBS_SCHEMA}._private_${name}`),
  ...migratedLibraries(MODULES).map((library) => `${MIGRATIONS_SCHEMA}.${schemaOf(library)}`),
];

/** The tables that were dropped. One query of the catalogue. */
export const findMissingTables = async (pool: Pick<Pool, 'query'>): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ name: string }>(
    `select name from unnest($1::text[]) with ordinality as known (name, place)
     where to_regclass(name) is null order by place`,
    [NEEDED],
  );
  return rows.map(({ name }) => name);
};
