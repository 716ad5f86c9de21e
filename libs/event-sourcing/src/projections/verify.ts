import type { PoolClient } from 'pg';
import { versionName, type Projection } from './projection.js';
import type { View } from './view.js';
import { atEqualPosition } from './rebuild.js';
import { buildingVersion, requireSameShape, type Workshop } from './versions.js';

/** Compares the rows of a live table with those of its version, at the same position. */
export interface TableComparison {
  readonly table: string;
  readonly rows: number;
  /** Over all rows and columns, independent of row order; lowercase hex. */
  readonly hash: string;
  readonly versionRows: number;
  readonly versionHash: string;
  /** Rows that differ or exist in only one of the two tables. */
  readonly differences: number;
  /** Keys of some of them. */
  readonly examples: readonly string[];
}

export interface Verification {
  readonly version: number;
  readonly position: bigint;
  readonly equal: boolean;
  readonly tables: readonly TableComparison[];
}

const EXAMPLES = 5;

/**
 * Compares the version being built with the live tables, row by row, at one position. The live view pauses only while
 * the version catches up; the comparison reads a snapshot.
 */
export const verify = async (workshop: Workshop, projection: Projection): Promise<Verification> => {
  const building = await buildingVersion(workshop, projection);
  const { version } = building;
  const snapshot = await workshop.pool.connect();
  let broken = true;
  try {
    await requireSameShape(snapshot, projection, version);
    const position = await atEqualPosition(workshop, projection, building, async (_, at) => {
      await snapshot.query('begin isolation level repeatable read read only');
      // The first query takes the snapshot, while both are at this position.
      await snapshot.query('select 1');
      return at;
    });
    const tables: TableComparison[] = [];
    for (const view of projection.views) tables.push(await compare(snapshot, view, version));
    await snapshot.query('commit');
    broken = false;
    const differences = tables.reduce((sum, table) => sum + table.differences, 0);
    await workshop.pool.query(
      `update event_sourcing.projection_version set verified_position = $3, differences = $4
       where projection = $1 and version = $2`,
      [projection.name, version, String(position), differences],
    );
    return { version, position, equal: differences === 0, tables };
  } finally {
    snapshot.release(broken);
  }
};

const compare = async (client: PoolClient, view: View, version: number): Promise<TableComparison> => {
  const other = versionName(view.table, version);
  const columns = await comparedColumns(client, view);
  const live = await hashOf(client, view.table, columns);
  const built = await hashOf(client, other, columns);
  const found =
    live.hash === built.hash
      ? { differences: 0, examples: [] }
      : await differing(client, view, other, columns);
  return {
    table: view.table,
    rows: live.rows,
    hash: live.hash,
    versionRows: built.rows,
    versionHash: built.hash,
    ...found,
  };
};

const comparedColumns = async (client: PoolClient, { table, external = [] }: View): Promise<string> => {
  const { rows } = await client.query<{ attname: string }>(
    `select attname from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped and attname <> all ($2) order by attname`,
    [table, external],
  );
  return rows.map(({ attname }) => attname).join(', ');
};

/** Adds up row hashes in two 64-bit sums: independent of row order, in constant memory. */
const hashOf = async (
  client: PoolClient,
  table: string,
  columns: string,
): Promise<{ rows: number; hash: string }> => {
  const { rows } = await client.query<{ rows: string; hash: string }>(
    `select count(*) as rows, md5(concat_ws('|', count(*), sum(head), sum(tail))) as hash
     from (select ('x' || left(hash, 16))::bit(64)::bigint::numeric as head,
                  ('x' || right(hash, 16))::bit(64)::bigint::numeric as tail
           from (select md5(row(${columns})::text) as hash from ${table}) hashed) halves`,
  );
  return { rows: Number(rows[0]!.rows), hash: rows[0]!.hash };
};

const differing = async (
  client: PoolClient,
  { table, key }: View,
  other: string,
  columns: string,
): Promise<{ differences: number; examples: readonly string[] }> => {
  const rowsOf = (from: string) =>
    `select ${key.join(', ')}, md5(row(${columns})::text) as hash from ${from}`;
  const { rows } = await client.query<{ id: string; total: string }>(
    `select concat_ws('/', ${key.map((column) => `coalesce(live.${column}, built.${column})`).join(', ')}) as id,
            count(*) over () as total
     from (${rowsOf(table)}) live
     full join (${rowsOf(other)}) built on ${key.map((column) => `live.${column} = built.${column}`).join(' and ')}
     where live.hash is distinct from built.hash
     order by id limit ${EXAMPLES}`,
  );
  return { differences: Number(rows[0]?.total ?? 0), examples: rows.map(({ id }) => id) };
};
