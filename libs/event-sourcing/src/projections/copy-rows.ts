import pg from 'pg';
import { copyIn } from './copy.js';

const { BOOL, INT2, INT4, INT8, NUMERIC, TEXT, VARCHAR, UUID, DATE, TIMESTAMPTZ } = pg.types.builtins;

/** Types whose text is that of their JSON value. Arrays and JSON have another. */
const PLAIN: ReadonlySet<number> = new Set([
  ...[BOOL, INT2, INT4, INT8, NUMERIC],
  ...[TEXT, VARCHAR, UUID, DATE, TIMESTAMPTZ],
]);

/** Whether `copyRows` can write all these columns, as a query of them describes them. */
export const canCopy = (columns: readonly Pick<pg.FieldDef, 'dataTypeID'>[]): boolean =>
  columns.every(({ dataTypeID }) => PLAIN.has(dataTypeID));

/** Characters sent at once. */
const CHUNK = 65_536;

/**
 * Appends rows that the table does not have. A statement would have to take each value out of JSON first. For a
 * few rows it is as good, and one round trip less.
 * @param rows values as JSON has them; a missing one is null
 * @throws when one of the rows is there already; then none is written
 */
export const copyRows = (
  client: pg.ClientBase,
  table: string,
  columns: readonly string[],
  rows: readonly Readonly<Record<string, unknown>>[],
): Promise<void> =>
  copyIn(client, `copy ${table} (${columns.join(', ')}) from stdin`, encoded(columns, rows));

function* encoded(
  columns: readonly string[],
  rows: readonly Readonly<Record<string, unknown>>[],
): Generator<Buffer> {
  let text = '';
  for (const row of rows) {
    for (let index = 0; index < columns.length; index += 1)
      text += (index === 0 ? '' : '\t') + textOf(row[columns[index]!]);
    text += '\n';
    if (text.length < CHUNK) continue;
    // A lone surrogate, which PostgreSQL rejects, becomes the replacement character.
    yield Buffer.from(text);
    text = '';
  }
  if (text !== '') yield Buffer.from(text);
}

const NULL = '\\N';
const SPECIAL = /[\\\t\n\r]/;
const ESCAPED: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

/** Source: https://www.postgresql.org/docs/current/sql-copy.html, text format. */
const textOf = (value: unknown): string => {
  if (value === null || value === undefined) return NULL;
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return SPECIAL.test(text) ? text.replaceAll(/[\\\t\n\r]/g, (character) => ESCAPED[character]!) : text;
};
