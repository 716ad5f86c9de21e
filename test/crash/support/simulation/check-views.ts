import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import { categoryOf } from '#event-sourcing/core/stream-name.js';
import { foldRows, type RowFold } from '#event-sourcing/projections/view.js';
import type { PoolClient } from 'pg';
import type { History, Report } from './history.js';
import type { Row } from './postgres.js';
import type { World } from './world.js';

export const checkViews = ({ lost }: World, { readings, rows }: History, report: Report): void => {
  const holds = rows('billing.hold').length;
  if (holds > 0) report(`the view still has ${holds} holds`);
  for (const { reading_id: id, status, document_version: version, erased_at: erasedAt } of rows(
    'readings.reading',
  ) as readonly Record<string, string | null>[]) {
    if (erasedAt === null && !lost.keys.has(id!) && (version !== null) !== (status === 'completed'))
      report(`reading ${id} is ${status}, but not published in the view`);
    if (!readings.has(id!)) report(`the view has a reading ${id} that no stream has`);
  }
};

/** However often and in whatever batches events arrived, the rows equal one fold of the whole log. */
export const checkRebuilt = async (
  { store, postgres, consumers }: World,
  { rows }: History,
  report: Report,
): Promise<void> => {
  const folds = [...consumers.values()].flatMap(({ categories, steps }) =>
    steps(store.log.filter(({ stream }) => categories.includes(categoryOf(stream)))).filter(
      (step): step is RowFold => 'view' in step,
    ),
  );
  const views = new Map(folds.map(({ table, view }) => [table, view]));
  const anew = await postgres.inVain(async (client) => {
    for (const table of views.keys()) await client.query(`delete from ${table}`);
    for (const fold of folds) await foldRows(client as PoolClient, fold);
    const contents = new Map<string, readonly Row[]>();
    for (const table of views.keys()) {
      const { rows: found } = await client.query<{ row: Row }>(
        `select to_json(one) as row from ${table} one`,
      );
      contents.set(
        table,
        found.map(({ row }) => row),
      );
    }
    return contents;
  });
  for (const [table, { external = [] }] of views) {
    const compared = (of: readonly Row[]) =>
      of
        .map((row) =>
          canonicalJson(Object.fromEntries(Object.entries(row).filter(([c]) => !external.includes(c)))),
        )
        .toSorted()
        .join();
    if (compared(rows(table)) !== compared(anew.get(table)!)) report(`${table} is not what the log folds to`);
  }
};
