import type { Pool } from 'pg';
import { SealBroken } from './sealing.js';
import { KeyDestroyed, splitKeyId } from './wrapping-keys.js';

/** A table with a column sealed by key-encryption keys. Names are SQL and come from code, never from input. */
export interface SealedColumn {
  readonly table: string;
  readonly id: string;
  readonly sealed: string;
  /** Columns that form the context of a seal. */
  readonly owner: readonly string[];
  /** The context with which a row was sealed. */
  readonly context: (id: string, owner: readonly string[]) => string;
}

/** Opens what any key-encryption key sealed, and seals with one of them. */
export interface Resealer {
  readonly currentKeyId: string;
  /** @throws SealBroken, KeyDestroyed */
  open(context: string, bytes: Uint8Array): Buffer | Promise<Buffer>;
  seal(context: string, plaintext: Uint8Array): Buffer;
  /** SQL that is true while rows may be sealed with the current key; absent: always. */
  readonly whileTrue?: string;
}

export interface Rewrapped {
  readonly rewrapped: number;
  /** Ids of rows that no key opens; they stay unchanged. */
  readonly unopened: readonly string[];
  /** Ids of keys other than the current one that may still have sealed a row. */
  readonly left: ReadonlySet<string>;
}

/** Maximum number of rows read, and resealed, per statement: few enough to block no one for long. */
const PAGE = 2_000;
const BATCH = 500;
/** Rows counted in one statement: a tenth of a second, however many there are in all. */
const COUNTED = 50_000;
/** Maximum number of unopened rows to name. */
const NAMED = 100;

/** The id of the key-encryption key that sealed a value: a length byte, then that many ASCII characters. */
const keyIdOf = (column: string): string =>
  `convert_from(substring(${column} from 2 for get_byte(${column}, 0)), 'UTF8')`;

/** How many rows each key-encryption key sealed, by its id. @param counted rows of one statement */
export const countByKey = async (
  pool: Pick<Pool, 'query'>,
  { table, id, sealed }: SealedColumn,
  counted = COUNTED,
): Promise<ReadonlyMap<string, number>> => {
  const counts = new Map<string, number>();
  let after: string | null = null;
  do {
    const { rows }: { rows: { key: string; count: number; last: string }[] } = await pool.query(
      `with page as materialized (
         select ${id} as id, ${keyIdOf(sealed)} as key from ${table}
         where $1::uuid is null or ${id} > $1 order by ${id} limit ${counted}
       )
       select key, count(*)::int as count, (select id from page order by id desc limit 1) as last from page group by key`,
      [after],
    );
    for (const { key, count } of rows) counts.set(key, (counts.get(key) ?? 0) + count);
    after = rows[0]?.last ?? null;
  } while (after !== null);
  return new Map([...counts].toSorted(([one], [other]) => (one < other ? -1 : 1)));
};

interface Row {
  readonly id: string;
  readonly sealed: Buffer;
  readonly owner: readonly string[];
}

/**
 * Rows that a key sealed, or that any other key sealed, page by page in id order: no statement grows with the table.
 */
export const rowsSealed = async function* (
  pool: Pool,
  { table, id, sealed, owner }: SealedColumn,
  which: { readonly by: string } | { readonly notBy: string },
): AsyncGenerator<readonly Row[]> {
  const [operator, keyId] = 'by' in which ? ['=', which.by] : ['<>', which.notBy];
  let after: string | null = null;
  for (;;) {
    const { rows }: { rows: (Omit<Row, 'sealed'> & { sealed: Buffer | null })[] } = await pool.query(
      `select ${id} as id, case when ${keyIdOf(sealed)} ${operator} $1 then ${sealed} end as sealed,
              array[${owner.join(', ')}]::text[] as owner
       from ${table} where $2::uuid is null or ${id} > $2 order by ${id} limit ${PAGE}`,
      [keyId, after],
    );
    const found = rows.filter((row): row is Row => row.sealed !== null);
    for (let at = 0; at < found.length; at += BATCH) yield found.slice(at, at + BATCH);
    after = rows.at(-1)?.id ?? null;
    if (rows.length < PAGE) return;
  }
};

/**
 * Reseals with the current key what other keys sealed. The content (a reading's key, a secret) stays the same, so
 * readers and writers continue. Each row changes only if it is still as read. Run it again to resume after an
 * interruption.
 * @param onProgress receives how many rows of other keys have been processed
 */
export const rewrap = async (
  pool: Pool,
  keys: Resealer,
  column: SealedColumn,
  onProgress: (seen: number) => void = () => undefined,
  signal?: AbortSignal,
): Promise<Rewrapped> => {
  const { table, id, sealed, context } = column;
  const unopened: string[] = [];
  const left = new Set<string>();
  let [seen, rewrapped] = [0, 0];
  for await (const rows of rowsSealed(pool, column, { notBy: keys.currentKeyId })) {
    if (signal?.aborted) break;
    const opened: (Row & { renewed: Buffer })[] = [];
    for (const row of rows) {
      const place = context(row.id, row.owner);
      try {
        opened.push({ ...row, renewed: keys.seal(place, await keys.open(place, row.sealed)) });
      } catch (error) {
        if (!(error instanceof SealBroken || error instanceof KeyDestroyed)) throw error;
        if (unopened.length < NAMED) unopened.push(row.id);
        left.add(splitKeyId(row.sealed).id);
      }
    }
    const { rowCount } = await pool.query(
      `update ${table} as stored set ${sealed} = renewed.sealed
       from unnest($1::uuid[], $2::bytea[], $3::bytea[]) as renewed (id, former, sealed)
       where stored.${id} = renewed.id and stored.${sealed} = renewed.former and (${keys.whileTrue ?? 'true'})`,
      [opened.map((row) => row.id), opened.map((row) => row.sealed), opened.map((row) => row.renewed)],
    );
    rewrapped += rowCount ?? 0;
    if (rowCount !== opened.length) for (const row of opened) left.add(splitKeyId(row.sealed).id);
    seen += rows.length;
    onProgress(seen);
  }
  return { rewrapped, unopened, left };
};
