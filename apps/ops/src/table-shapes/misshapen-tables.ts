import type { Pool } from 'pg';
import { COLUMNS } from './columns.js';

/** A table that lacks a column of this program, or has it with another type. */
export interface MisshapenTable {
  readonly table: string;
  /** `<column> <type>`, as this program needs them. */
  readonly lacks: readonly string[];
}

/** The columns of tables that exist, as `<column> <type>`, by table. */
export const columnsOf = async (
  pool: Pick<Pool, 'query'>,
  tables: readonly string[],
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const { rows } = await pool.query<{ name: string; columns: string[] }>(
    `select name, array_agg(attname || ' ' || format_type(atttypid, atttypmod) order by attnum) as columns
     from unnest($1::text[]) known (name) join pg_attribute on attrelid = to_regclass(name)
     where attnum > 0 and not attisdropped group by name`,
    [tables],
  );
  return new Map(rows.map(({ name, columns }) => [name, columns]));
};

/** Missing tables are not reported, nor columns that a newer program added. One query of the catalogue. */
export const findMisshapenTables = async (pool: Pick<Pool, 'query'>): Promise<readonly MisshapenTable[]> => {
  const found = await columnsOf(pool, Object.keys(COLUMNS));
  return Object.entries(COLUMNS).flatMap(([table, needed]) => {
    const columns = found.get(table);
    const lacks = columns ? needed.split(', ').filter((column) => !columns.includes(column)) : [];
    return lacks.length > 0 ? [{ table, lacks }] : [];
  });
};
