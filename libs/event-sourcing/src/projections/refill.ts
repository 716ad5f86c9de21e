import type { PoolClient } from 'pg';
import { holdCheckpoint, transaction } from './checkpoint.js';
import { checkpointOf, versionName, type Projection } from './projection.js';
import { rebuild, type RebuildProgress } from './rebuild.js';
import { Refused, dropVersions, oneAtATime, takeOverParked, type Workshop } from './versions.js';

export interface Refill {
  /** Tables to fill: truncated or dropped. */
  readonly lost: readonly string[];
  /** Where an empty table of the same shape waits, for each table of the projection. */
  readonly apart: (table: string) => string;
  /** Puts filled tables in the places of dropped ones, in this transaction. */
  readonly putBack: (client: PoolClient, tables: readonly string[]) => Promise<void>;
  readonly onProgress?: RebuildProgress;
}

/**
 * Fills tables that were dropped or truncated from the log, and puts them back in one transaction: nobody sees them
 * half full. The live view pauses meanwhile, so it handles no event without the rows. Tables with rows stay as they are.
 * @returns the number of events handled; `null` when the live view has handled none, and so will fill them itself
 * @throws Refused when a table that was empty has rows by now, or when another rebuild is running
 */
export const refill = async (
  workshop: Workshop,
  projection: Projection,
  { lost, apart, putBack, onProgress }: Refill,
): Promise<{ events: number | null }> => {
  const elsewhere: Projection = {
    ...projection,
    views: projection.views.map((view) => ({ ...view, table: apart(view.table) })),
  };
  // What an interrupted run left, and what an operator was building: without the live rows, nobody can verify it.
  await dropVersions(workshop, projection, { unfinished: true });
  const fill = async (client: PoolClient): Promise<{ events: number | null }> => {
    const held = await holdCheckpoint(client, checkpointOf(projection));
    const isNew = held === null || held.position === null;
    const built = isNew ? null : await rebuild(workshop, elsewhere, onProgress ? { onProgress } : {});
    await oneAtATime(client, projection);
    await client.query('set local synchronous_commit = on');
    const dropped: string[] = [];
    for (const table of lost) {
      const { rows } = await client.query<{ there: boolean }>('select to_regclass($1) is not null as there', [
        table,
      ]);
      const target = rows[0]!.there ? table : apart(table);
      if (target !== table) dropped.push(table);
      else await requireEmpty(client, table);
      if (built) await copyRows(client, versionName(apart(table), built.version), target);
    }
    await putBack(client, dropped);
    if (!built) return { events: null };
    // Tables that were not filled lack the events that are parked.
    await takeOverParked(client, projection, built.version, { dropsLive: false });
    await client.query(
      'delete from event_sourcing.projection_version where projection = $1 and version = $2',
      [projection.name, built.version],
    );
    return { events: built.events };
  };
  // It holds the checkpoint while the log is read, however long that takes.
  return transaction(workshop.pool, fill, { longestPauseMs: 0 });
};

const requireEmpty = async (client: PoolClient, table: string): Promise<void> => {
  await client.query(`lock table ${table} in exclusive mode`);
  const { rowCount } = await client.query(`select from ${table} limit 1`);
  if (rowCount !== 0) throw new Refused([`${table} has rows by now: run ops projections verify instead.`]);
};

/** By the names of the columns: their order may differ after migrations. */
const copyRows = async (client: PoolClient, from: string, to: string): Promise<void> => {
  const { rows } = await client.query<{ columns: string }>(
    `select string_agg(quote_ident(attname), ', ') as columns from pg_attribute
     where attrelid = to_regclass($1) and attnum > 0 and not attisdropped and attgenerated = ''`,
    [from],
  );
  const { columns } = rows[0]!;
  await client.query(`insert into ${to} (${columns}) select ${columns} from ${from}`);
};
