import type { Pool } from 'pg';
import type { KeyRing } from './key-ring.js';
import { SealBroken } from './sealing.js';

/** A table with a column that the key ring sealed. Names are SQL and come from code, never from outside. */
export interface SealedColumn {
  readonly table: string;
  readonly id: string;
  readonly sealed: string;
  /** Columns that the context of a seal is made of. */
  readonly owner: readonly string[];
  /** The context under which a row was sealed. */
  readonly context: (id: string, owner: readonly string[]) => string;
}

export interface Rewrapped {
  readonly rewrapped: number;
  /** Ids of rows that no key of the ring opens; they are left as they are. */
  readonly unopened: readonly string[];
}

/** Rows sealed anew in one statement: short enough to lock nobody out. */
const BATCH = 500;
/** Unopened rows named at most. */
const NAMED = 100;

/** The id of the key-encryption key that sealed a value: a length byte, then so many ASCII characters. */
const keyIdOf = (column: string): string =>
  `convert_from(substring(${column} from 2 for get_byte(${column}, 0)), 'UTF8')`;

/** How many rows each key-encryption key sealed, by its id. */
export const countByKey = async (
  pool: Pool,
  { table, sealed }: SealedColumn,
): Promise<ReadonlyMap<string, number>> => {
  const { rows } = await pool.query<{ key: string; count: number }>(
    `select ${keyIdOf(sealed)} as key, count(*)::int as count from ${table} group by 1 order by 1`,
  );
  return new Map(rows.map(({ key, count }) => [key, count]));
};

/**
 * Seals with the ring's first key what another one sealed. What was sealed inside (a reading's key, a secret) stays the
 * same, so readers and writers go on meanwhile; each row changes only if it still is what was read. Stopped half way, it
 * goes on where it was when run again.
 * @param onProgress is told how many rows have been looked at
 */
export const rewrap = async (
  pool: Pool,
  ring: KeyRing,
  { table, id, sealed, owner, context }: SealedColumn,
  onProgress: (seen: number) => void = () => undefined,
): Promise<Rewrapped> => {
  const unopened: string[] = [];
  let [after, seen, rewrapped]: [string | null, number, number] = [null, 0, 0];
  for (;;) {
    const { rows }: { rows: { id: string; sealed: Buffer; owner: string[] }[] } = await pool.query(
      `select ${id} as id, ${sealed} as sealed, array[${owner.join(', ')}]::text[] as owner from ${table}
       where ${keyIdOf(sealed)} <> $1 and ($2::uuid is null or ${id} > $2) order by ${id} limit $3`,
      [ring.currentKeyId, after, BATCH],
    );
    const opened = rows.flatMap((row) => {
      const place = context(row.id, row.owner);
      try {
        return [{ ...row, renewed: ring.seal(place, ring.open(place, row.sealed)) }];
      } catch (error) {
        if (!(error instanceof SealBroken)) throw error;
        if (unopened.length < NAMED) unopened.push(row.id);
        return [];
      }
    });
    const { rowCount } = await pool.query(
      `update ${table} as stored set ${sealed} = renewed.sealed
       from unnest($1::uuid[], $2::bytea[], $3::bytea[]) as renewed (id, former, sealed)
       where stored.${id} = renewed.id and stored.${sealed} = renewed.former`,
      [opened.map((row) => row.id), opened.map((row) => row.sealed), opened.map((row) => row.renewed)],
    );
    rewrapped += rowCount ?? 0;
    seen += rows.length;
    onProgress(seen);
    after = rows.at(-1)?.id ?? null;
    if (rows.length < BATCH) return { rewrapped, unopened };
  }
};
