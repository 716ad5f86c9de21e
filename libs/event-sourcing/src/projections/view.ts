import type { PoolClient } from 'pg';
import type { Recorded } from '../core/event.js';

/** Values of a row's key columns, by column. */
export type RowKey = Readonly<Record<string, string | number>>;

/**
 * One table of a projection, and how events change its rows. In a row, instants are RFC 3339 texts with milliseconds,
 * `numeric` and `bigint` columns texts, everything else what JSON has for it.
 */
export interface ViewOf<Row extends object, Event extends Recorded> {
  /** `<schema>.<table>` */
  readonly table: string;
  /** Columns of its primary key. */
  readonly key: readonly (keyof Row & string)[];
  /** Columns that others write once a row is there: neither overwritten nor compared. */
  readonly external?: readonly (keyof Row & string)[];
  /** Which row an event is about; `null`: none. */
  readonly keyOf: (event: Event) => RowKey | null;
  /**
   * Pure: the row after the event. `null` is no row; the same row again is no change. Every row has all columns, and an
   * event that comes a second time changes nothing.
   */
  readonly evolve: (row: Row | null, event: Event) => Row | null;
}

/** A view of any row. It takes at least the events that `Event` names. */
export type View<Event extends Recorded = Recorded> = ViewOf<Record<string, unknown>, Event>;

/** Forgets the row's type, so that views of several tables can stand side by side. */
export const view = <Row extends object, Event extends Recorded>(
  definition: ViewOf<Row, Event>,
): View<Event> => definition as unknown as View<Event>;

/** Events to be folded into the rows of a table, in their order. */
export interface RowFold {
  readonly view: View;
  /** Where the rows are: the view's own table, or a version of it. */
  readonly table: string;
  readonly events: readonly Recorded[];
}

/** Events for a view's own table: at least those that the view takes. */
export const foldInto = <Event extends Recorded>(view: View<Event>, events: readonly Event[]): RowFold => ({
  view: view as unknown as View,
  table: view.table,
  events,
});

type Row = Readonly<Record<string, unknown>>;

/** Reads the rows that the events are about, folds, and writes what changed: three statements however many events. */
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
  for (const [id, event] of about) after.set(id, view.evolve(after.get(id) ?? null, event));

  const written: Row[] = [];
  const removed: RowKey[] = [];
  for (const [id, key] of keys) {
    const row = after.get(id) ?? null;
    if (row === (before.get(id) ?? null)) continue;
    if (row === null) removed.push(key);
    else written.push(row);
  }
  await removeRows(client, view, table, removed);
  await writeRows(client, view, table, written);
};

/** Deletes rows by their keys. */
export const removeRows = async (
  client: PoolClient,
  view: View,
  table: string,
  keys: readonly RowKey[],
): Promise<void> => {
  if (keys.length === 0) return;
  await client.query(`delete from ${table} where ${amongKeys(view, table)}`, [JSON.stringify(keys)]);
};

const loadRows = async (
  client: PoolClient,
  view: View,
  table: string,
  keys: readonly RowKey[],
): Promise<Map<string, Row>> => {
  const { rows } = await client.query<Record<string, unknown>>(
    `select * from ${table} where ${amongKeys(view, table)}`,
    [JSON.stringify(keys)],
  );
  return new Map(
    rows.map((row) => {
      for (const [column, value] of Object.entries(row)) {
        if (value instanceof Date) row[column] = value.toISOString();
      }
      return [idOf(view, row), row];
    }),
  );
};

/** Rows of one statement, so that none of its parameters grows beyond some megabytes. */
const ROWS_AT_ONCE = 500;

const writeRows = async (
  client: PoolClient,
  view: View,
  table: string,
  rows: readonly Row[],
): Promise<void> => {
  if (rows.length === 0) return;
  // Rows that were read may have columns that this program does not know yet, and name them in another order.
  const columns = rows
    .map((row) => Object.keys(row))
    .reduce((fewest, names) => (names.length < fewest.length ? names : fewest))
    .toSorted();
  for (let from = 0; from < rows.length; from += ROWS_AT_ONCE) {
    await client.query({
      name: `write ${table} ${columns.length}`,
      text: upsert(view, table, columns),
      values: [asJson(rows.slice(from, from + ROWS_AT_ONCE))],
    });
  }
};

/** One parameter and one prepared statement, however many rows; Postgres knows the columns' types. */
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

/** Half a surrogate pair is no text to Postgres, and one row must not spoil the others. */
const asJson = (rows: readonly Row[]): string => {
  const json = JSON.stringify(rows);
  if (!json.includes('\\ud')) return json;
  return JSON.stringify(rows, (_, value: unknown) =>
    typeof value === 'string' ? Buffer.from(value).toString() : value,
  );
};

/** JSON carries the keys: the table itself knows their types. */
const amongKeys = ({ key }: View, table: string): string =>
  `(${key.join(', ')}) in (select ${key.join(', ')} from json_populate_recordset(null::${table}, $1::json))`;

const idOf = ({ key }: View, row: Row): string => key.map((column) => String(row[column])).join('\u0000');
