import pg from 'pg';
import type { Values } from './statement.js';

export type Row = Readonly<Record<string, unknown>>;
export type Answer = { rows: Row[]; rowCount: number; fields?: readonly { dataTypeID: number }[] };

/** Columns as these tables have them: nobody copies JSON. */
const FIELDS = [{ dataTypeID: pg.types.builtins.JSON }];

const SELECT = /^select \* from (\S+) where \(([^)]+)\) in \(select/;
const DELETE = /^delete from (\S+) where \(([^)]+)\) in \(select/;
const UPSERT =
  /^insert into (\S+) \(([^)]+)\) select .* from json_populate_recordset\(.*\) on conflict \(([^)]+)\) do (?:nothing|update set (.+))$/;

/** The tables of all views: rows by the values of their keys. Knows the three statements that fold rows. */
export class ViewRows {
  constructor(readonly tables = new Map<string, Map<string, Row>>()) {}

  of(table: string): Map<string, Row> {
    const rows = this.tables.get(table) ?? new Map<string, Row>();
    this.tables.set(table, rows);
    return rows;
  }

  /** A copy of the current tables, independent of them. */
  copy(): ViewRows {
    return new ViewRows(new Map([...this.tables].map(([table, rows]) => [table, new Map(rows)])));
  }

  /** Executes a statement that folds rows; `null` for any other. */
  run(text: string, values: Values): Answer | null {
    const select = SELECT.exec(text);
    if (select) {
      const table = this.of(select[1]!);
      const rows = keysIn(select[2]!, values).flatMap((key) => (table.has(key) ? [table.get(key)!] : []));
      return { rows: rows.map((row) => ({ ...row })), rowCount: rows.length, fields: FIELDS };
    }
    const removal = DELETE.exec(text);
    if (removal) {
      const table = this.of(removal[1]!);
      const removed = keysIn(removal[2]!, values).filter((key) => table.delete(key));
      return { rows: [], rowCount: removed.length };
    }
    const upsert = UPSERT.exec(text);
    return upsert && this.upsert(upsert, values);
  }

  private upsert([, name, names, key, changes]: readonly string[], [json]: Values): Answer {
    const table = this.of(name!);
    const overwritten = changes?.split(', ').map((change) => change.split(' = ', 1)[0]!) ?? [];
    const rows = JSON.parse(json as string) as Row[];
    for (const row of rows) {
      const pick = (columns: readonly string[]): Row =>
        Object.fromEntries(columns.map((column) => [column, row[column]]));
      const id = idOf(key!, row);
      const known = table.get(id);
      table.set(id, known ? { ...known, ...pick(overwritten) } : pick(names!.split(', ')));
    }
    return { rows: [], rowCount: rows.length };
  }
}

const idOf = (columns: string, row: Row): string =>
  columns
    .split(', ')
    .map((column) => String(row[column]))
    .join('|');

const keysIn = (columns: string, [keys]: Values): string[] =>
  (JSON.parse(keys as string) as Row[]).map((key) => idOf(columns, key));
