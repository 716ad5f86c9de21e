import type { PoolClient } from 'pg';
import { requireWorkspace } from '../core/event-catalogue.js';
import type { Recorded } from '../core/event.js';

/** Values of a row's key columns, by column name. */
export type RowKey = Readonly<Record<string, string | number>>;

/**
 * One table of a projection, and how events change its rows. In a row, instants are RFC 3339 strings with milliseconds,
 * `numeric` and `bigint` columns are strings, and everything else is its JSON value.
 */
export interface ViewOf<Row extends object, Event extends Recorded> {
  /** `<schema>.<table>` */
  readonly table: string;
  /** Columns of its primary key. */
  readonly key: readonly (keyof Row & string)[];
  /** Columns that other code writes once the row exists: neither overwritten nor compared. */
  readonly external?: readonly (keyof Row & string)[];
  /** The key of the row that an event changes; `null` when it changes none. */
  readonly keyOf: (event: Event) => RowKey | null;
  /**
   * Pure: returns the row after the event. `null` deletes the row; the same object means no change. A row has all
   * columns. An event that arrives a second time must change nothing.
   */
  readonly evolve: (row: Row | null, event: Event) => Row | null;
}

/** A view with any row type. Accepts at least the events of `Event`. */
export type View<Event extends Recorded = Recorded> = ViewOf<Record<string, unknown>, Event>;

/** Erases the row type, so that one array can hold views of several tables. */
export const view = <Row extends object, Event extends Recorded>(
  definition: ViewOf<Row, Event>,
): View<Event> => definition as unknown as View<Event>;

/** Events to fold into the rows of a table, in order. */
export interface RowFold {
  readonly view: View;
  /** The table that holds the rows: the view's own, or a version of it. */
  readonly table: string;
  readonly events: readonly Recorded[];
}

/** Folds events into the view's own table. */
export const foldInto = <Event extends Recorded>(view: View<Event>, events: readonly Event[]): RowFold => ({
  view: view as unknown as View,
  table: view.table,
  events,
});

type Row = Readonly<Record<string, unknown>>;

/**
 * Reads the affected rows, folds the events, and writes the changes: three statements for up to 500 rows.
 * @throws CorruptEvent for an event of another workspace than its row
 */
export const foldRows = async (client: PoolClient, { view, table, events }: RowFold): Promise<void> => {
  const keys = new Map<string, RowKey>();
  const about: [string, Recorded][] = [];
  for (const event of events) {
    const key = view.keyOf(event);
    if (key === null) continue;
    const id = idOf(view, key);
    keys.set(id, key);
    about.push([id, event]);
  }
  if (about.length === 0) return;
  const before = await loadRows(client, view, table, [...keys.values()]);
  const after = new Map<string, Row | null>(before);
  for (const [id, event] of about) {
    const row = after.get(id) ?? null;
    requireWorkspace(event, row?.['workspace_id']);
    after.set(id, view.evolve(row, event));
  }

  const changed: Row[] = [];
  const removed: RowKey[] = [];
  for (const [id, key] of keys) {
    const row = after.get(id) ?? null;
    if (row === (before.get(id) ?? null)) continue;
    if (row === null) removed.push(key);
    else changed.push(row);
  }
  await removeRows(client, view, table, removed);
  await writeRows(client, view, table, changed);
};

/** Deletes rows by their keys. */
export const removeRows = async (
  client: PoolClient,
  view: View,
  table: string,
  keys: readonly RowKey[],
): Promise<void> => {
  if (keys.length === 0) return;
  await client.query({
    name: `delete ${table}`,
    text: `delete from ${table} where ${amongKeys(view, table)}`,
    values: [JSON.stringify(keys)],
  });
};

const loadRows = async (
  client: PoolClient,
  view: View,
  table: string,
  keys: readonly RowKey[],
): Promise<ReadonlyMap<string, Row>> => {
  // Not prepared: a migration may add a column meanwhile, and a prepared statement cannot answer with another row.
  const { rows } = await client.query<Record<string, unknown>>(
    `select * from ${table} where ${amongKeys(view, table)}`,
    [JSON.stringify(keys)],
  );
  const known = rows.map((row): [string, Row] => {
    for (const [column, value] of Object.entries(row)) {
      if (value instanceof Date) row[column] = value.toISOString();
    }
    return [idOf(view, row), row];
  });
  return new Map(known);
};

/** Rows per statement: keeps its parameter below a few megabytes. */
const ROWS_AT_ONCE = 500;

const writeRows = async (
  client: PoolClient,
  view: View,
  table: string,
  rows: readonly Row[],
): Promise<void> => {
  if (rows.length === 0) return;
  const columns = columnsOf(rows);
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    await client.query({
      name: `write ${table} ${columns.length}`,
      text: upsert(view, table, columns),
      values: [JSON.stringify(rows.slice(from, from + ROWS_AT_ONCE))],
    });
  }
};

/** Rows read from the table may have columns that this program does not know yet, in another order. */
const columnsOf = (rows: readonly Row[]): readonly string[] =>
  rows
    .map((row) => Object.keys(row))
    .reduce((fewest, names) => (names.length < fewest.length ? names : fewest))
    .toSorted();

/** One parameter and one prepared statement, however many rows; Postgres takes the column types from the table. */
const upsert = ({ key, external = [] }: View, table: string, columns: readonly string[]): string => {
  const overwritten = columns.filter((column) => !key.includes(column) && !external.includes(column));
  const whenKnown =
    overwritten.length === 0
      ? 'nothing'
      : `update set ${overwritten.map((column) => `${column} = excluded.${column}`).join(', ')}`;
  return `insert into ${table} (${columns.join(', ')})
          select ${columns.join(', ')} from json_populate_recordset(null::${table}, $1::json)
          on conflict (${key.join(', ')}) do ${whenKnown}`;
};

/** Passes the keys as JSON; Postgres takes their types from the table. */
const amongKeys = ({ key }: View, table: string): string =>
  `(${key.join(', ')}) in (select ${key.join(', ')} from json_populate_recordset(null::${table}, $1::json))`;

const idOf = ({ key }: View, row: Row): string => key.map((column) => String(row[column])).join('\u0000');
