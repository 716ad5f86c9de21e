import type { PoolClient } from 'pg';
import { versionName } from '../projections/projection.js';
import type { View } from '../projections/view.js';

/**
 * A version's tables are named `<table>__v<version>` and have the columns, checks and indexes of the live ones. Their
 * indexes are named `<index>__v<version>`. A switch renames them all, so live tables, indexes and constraints always
 * have their plain names, and migrations can ignore versions.
 */
export const createTables = async (client: PoolClient, view: View, version: number): Promise<void> => {
  const table = versionName(view.table, version);
  await client.query(`create table ${table} (like ${view.table} including all excluding indexes)`);
  for (const { name, definition, constraint } of await indexesOf(client, view.table)) {
    const own = versionName(name, version);
    await client.query(
      constraint === null
        ? definition.replace(/^(CREATE (?:UNIQUE )?INDEX) \S+ ON \S+/, `$1 ${own} ON ${table}`)
        : `alter table ${table} add constraint ${own} ${constraint}`,
    );
  }
};

/** Renames a version's tables to the live names, and the live tables to the names of their version. */
export const exchangeTables = async (
  client: PoolClient,
  { table, key, external = [] }: View,
  from: number,
  to: number,
): Promise<void> => {
  const next = versionName(table, to);
  await client.query(`lock table ${table}, ${next} in access exclusive mode`);
  if (external.length > 0) {
    await client.query(
      `update ${next} as next set ${external.map((column) => `${column} = live.${column}`).join(', ')}
       from ${table} as live where ${key.map((column) => `next.${column} = live.${column}`).join(' and ')}`,
    );
  }
  const [schema = '', plain = ''] = table.split('.');
  const liveIndexes = await indexesOf(client, table);
  await client.query(`alter table ${table} rename to ${versionName(plain, from)}`);
  for (const { name } of liveIndexes)
    await client.query(`alter index ${schema}.${name} rename to ${versionName(name, from)}`);
  const nextIndexes = await indexesOf(client, next);
  await client.query(`alter table ${next} rename to ${plain}`);
  for (const { name } of nextIndexes) {
    const live = name.replace(new RegExp(`${versionName('', to)}$`), '');
    await client.query(`alter index ${schema}.${name} rename to ${live}`);
  }
};

export const dropTables = async (client: PoolClient, view: View, version: number): Promise<void> => {
  await client.query(`drop table if exists ${versionName(view.table, version)}`);
};

/** Describes how the columns and indexes of two tables differ, a sentence each; empty when they can be exchanged. */
export const differencesInShape = async (
  client: PoolClient,
  view: View,
  version: number,
): Promise<readonly string[]> => {
  const other = versionName(view.table, version);
  const [live, built] = [await columnsOf(client, view.table), await columnsOf(client, other)];
  if (built.length === 0) return [`${other} does not exist`];
  const differences: string[] = [];
  if (live.join() !== built.join())
    differences.push(`${other} has other columns than ${view.table} (${different(live, built).join('; ')})`);
  const names = (await indexesOf(client, view.table)).map(({ name }) => versionName(name, version));
  const others = (await indexesOf(client, other)).map(({ name }) => name);
  if (different(names, others).length > 0)
    differences.push(
      `${other} has other indexes than ${view.table} (${different(names, others).join('; ')})`,
    );
  return differences;
};

/** Column names with types, in order. */
const columnsOf = async (client: PoolClient, table: string): Promise<readonly string[]> => {
  const { rows } = await client.query<{ column: string }>(
    `select attname || ' ' || format_type(atttypid, atttypmod) || case when attnotnull then ' not null' else '' end as column
     from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped order by attnum`,
    [table],
  );
  return rows.map(({ column }) => column);
};

interface Index {
  readonly name: string;
  readonly definition: string;
  /** Definition of the constraint that owns the index, such as the primary key. */
  readonly constraint: string | null;
}

const indexesOf = async (client: PoolClient, table: string): Promise<readonly Index[]> => {
  const { rows } = await client.query<Index>(
    `select class.relname as name, pg_get_indexdef(index.indexrelid) as definition,
            pg_get_constraintdef(con.oid) as constraint
     from pg_index index
     join pg_class class on class.oid = index.indexrelid
     left join pg_constraint con on con.conindid = index.indexrelid and con.conrelid = index.indrelid
     where index.indrelid = to_regclass($1)
     order by class.relname`,
    [table],
  );
  return rows;
};

const different = (one: readonly string[], other: readonly string[]): readonly string[] => [
  ...one.filter((name) => !other.includes(name)),
  ...other.filter((name) => !one.includes(name)),
];
