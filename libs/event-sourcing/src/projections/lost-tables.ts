import type { Pool } from 'pg';
import { decodeAny } from '../core/event-catalogue.js';
import type { Recorded, StoredEvent } from '../core/event.js';
import { categoryOf } from '../core/stream-name.js';
import { findCheckpoint } from './checkpoint.js';
import { categoriesOf, checkpointOf, type Projection } from './projection.js';
import type { View } from './view.js';
import { collect, type EventStore } from '../store/event-store.js';

/** Those of the tables that do not exist, in their order. */
export const missingTables = async (
  pool: Pick<Pool, 'query'>,
  tables: readonly string[],
): Promise<readonly string[]> => {
  const { rows } = await pool.query<{ name: string }>(
    `select name from unnest($1::text[]) with ordinality as known (name, place)
     where to_regclass(name) is null order by place`,
    [tables],
  );
  return rows.map(({ name }) => name);
};

/** Events at the beginning of the log among which a row is sought, and streams that are then read to their end. */
const EVENTS = 2_000;
const STREAMS = 20;

/**
 * Tables of these projections that have no row although the log determines some: they were truncated. Looks at the
 * beginning of the log only, so it never reports a table that is rightly empty, and may overlook one whose first row
 * comes late. Missing tables are not reported.
 */
export const emptiedTables = async (
  { pool, store }: { readonly pool: Pool; readonly store: Pick<EventStore, 'read' | 'readAll'> },
  projections: readonly Projection[],
): Promise<readonly string[]> => {
  const emptied: string[] = [];
  let first: readonly StoredEvent[] | undefined;
  for (const projection of projections) {
    const without = await emptyTables(pool, projection);
    const empty = projection.views.filter(({ table }) => without.includes(table)) as View[];
    if (empty.length === 0) continue;
    const upTo = (await findCheckpoint(pool, checkpointOf(projection)))?.position ?? null;
    if (upTo === null) continue;
    first ??= await collect(store.readAll({ after: null, limit: EVENTS }));
    for (const view of empty)
      if (await hasRow(store, projection, view, first, upTo)) emptied.push(view.table);
  }
  return emptied;
};

/** The projection's tables that exist and have no row, rightly or not. */
export const emptyTables = async (pool: Pool, { views }: Projection): Promise<readonly string[]> => {
  const tables = views.map(({ table }) => table);
  const missing = await missingTables(pool, tables);
  const empty: string[] = [];
  for (const table of tables.filter((one) => !missing.includes(one))) {
    const { rowCount } = await pool.query(`select from ${table} limit 1`);
    if (rowCount === 0) empty.push(table);
  }
  return empty;
};

const hasRow = async (
  store: Pick<EventStore, 'read'>,
  projection: Projection,
  view: View,
  first: readonly StoredEvent[],
  upTo: bigint,
): Promise<boolean> => {
  const followed = categoriesOf(projection);
  const near = first.filter(
    ({ stream, position }) => position <= upTo && followed.includes(categoryOf(stream)),
  );
  const sources = [...rowsOf(projection, view, near).values()].flatMap(({ row, stream }) =>
    row === null ? [] : [stream],
  );
  // A later event may have deleted the row.
  for (const stream of [...new Set(sources)].slice(0, STREAMS)) {
    const all = (await collect(store.read(stream))).filter(({ position }) => position <= upTo);
    if ([...rowsOf(projection, view, all).values()].some(({ row }) => row !== null)) return true;
  }
  return false;
};

type Found = Map<string, { row: Record<string, unknown> | null; stream: string }>;

/** The rows that these events determine, by key. An event that cannot be handled changes none. */
const rowsOf = ({ catalogues }: Projection, view: View, events: readonly StoredEvent[]): Found => {
  const found: Found = new Map();
  for (const stored of events) {
    try {
      const event: Recorded | null = decodeAny(catalogues, stored);
      const key = event && view.keyOf(event);
      if (!event || !key) continue;
      const id = JSON.stringify(key);
      found.set(id, { row: view.evolve(found.get(id)?.row ?? null, event), stream: event.stream });
    } catch {
      continue;
    }
  }
  return found;
};
