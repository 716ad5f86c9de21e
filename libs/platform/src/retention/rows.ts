import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import { instant } from '#event-sourcing/core/clock.js';
import type { Held } from './retention.js';

/** Counting stops here, so that a look never takes long. */
const MAX_COUNTED = 1_000_000;
/** For other work between statements, at least; a step that took longer is followed by a pause as long. */
const PAUSE_MS = 50;
/** Rows that `forgetOlder` deletes in one statement: a fraction of a second, also on a slow disk. */
const FORGOTTEN_AT_ONCE = 5_000;

/** Rows of a table with the instant from which their term counts. SQL, written by us. */
export interface RowsByAge {
  readonly table: string;
  readonly at: string;
  readonly where?: string;
}

/** What a table holds. Its instants have an index under the same condition. @param before milliseconds since the epoch */
export const heldRows = async (
  pool: Pick<Pool, 'query'>,
  { table, at, where = 'true' }: RowsByAge,
  before: number,
): Promise<Held> => {
  const { rows } = await pool.query<{ oldest: Date | null; rows: number; bytes: number }>(
    `select oldest, rows, (rows * pg_total_relation_size('${table}')
                           / greatest((select reltuples from pg_class where oid = '${table}'::regclass), rows, 1))::float8 as bytes
     from (select (select min(${at}) from ${table} where ${where}) as oldest,
                  (select count(*)::integer from (
                     select from ${table} where ${where} and ${at} < $1 limit ${MAX_COUNTED}) due) as rows) found`,
    [instant(before)],
  );
  const { oldest, rows: due, bytes } = rows[0]!;
  return {
    oldest: oldest?.getTime() ?? null,
    due: { rows: due, bytes: Math.round(bytes), partitions: null },
  };
};

/** Repeats a step, with pauses, until one deletes fewer rows than it may. @returns how many were deleted */
export const inSteps = async (
  atOnce: number,
  signal: AbortSignal,
  step: () => Promise<number>,
): Promise<number> => {
  for (let removed = 0; ;) {
    const startedAt = performance.now();
    const rows = await step();
    removed += rows;
    if (rows < atOnce || signal.aborted) return removed;
    const pauseMs = Math.max(PAUSE_MS, performance.now() - startedAt);
    await delay(pauseMs, undefined, { signal }).catch(() => undefined);
  }
};

/**
 * Deletes rows older than a term by the database's clock, or than an instant, the oldest first, in steps: one statement for a large backlog
 * would run into the limit of a statement each time, and delete nothing. A row that is changed meanwhile stays.
 * @param rows their instants have an index
 * @param older an interval of PostgreSQL, written by us, or milliseconds since the epoch
 * @returns how many were deleted
 */
export const forgetOlder = (
  pool: Pick<Pool, 'query'>,
  { table, at }: Pick<RowsByAge, 'table' | 'at'>,
  older: string | number,
  signal: AbortSignal,
): Promise<number> => {
  const before =
    typeof older === 'number' ? `'${instant(older)}'::timestamptz` : `now() - interval '${older}'`;
  return inSteps(FORGOTTEN_AT_ONCE, signal, async () => {
    const { rowCount } = await pool.query(
      `delete from ${table} where ctid = any (array(
         select ctid from ${table} where ${at} < ${before}
         order by ${at} limit ${FORGOTTEN_AT_ONCE} for update skip locked))`,
    );
    return rowCount ?? 0;
  });
};
