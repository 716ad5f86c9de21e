import type { PoolClient } from 'pg';
import { canonicalJson } from '#event-sourcing/core/canonical-json.js';
import { categoryOf } from '#event-sourcing/core/stream-name.js';
import { runSteps } from '#event-sourcing/projections/statement.js';
import { statementOf, type Query, type Values } from './statement.js';
import { ViewRows, type Row } from './view-rows.js';
import type { World } from './world.js';
import { type History, type Report } from './history.js';

export const checkViews = (
  { tables: { views }, lost }: World,
  { readings }: History,
  report: Report,
): void => {
  const holds = views.of('billing.hold').size;
  if (holds > 0) report(`the view still has ${holds} holds`);
  for (const [id, { status, document_version: version, erased_at: erasedAt }] of views.of(
    'readings.reading',
  )) {
    if (erasedAt === null && !lost.keys.has(id) && (version !== null) !== (status === 'completed'))
      report(`reading ${id} is ${status as string}, but not published in the view`);
    if (!readings.has(id)) report(`the view has a reading ${id} that no stream has`);
  }
};

/** However often and in whatever batches events arrived, the rows equal one fold of the whole log. */
export const checkRebuilt = async ({ store, tables, consumers }: World, report: Report): Promise<void> => {
  const anew = new ViewRows();
  const query = async (text: Query, values?: Values) =>
    anew.run(...statementOf(text, values)) ?? { rows: [] };
  for (const { name, categories, steps } of consumers.values()) {
    const events = store.log.filter(({ stream }) => categories.includes(categoryOf(stream)));
    await runSteps({ query } as unknown as PoolClient, steps(events)).catch((error: unknown) =>
      report(`${name} cannot handle the log: ${String(error)}`),
    );
  }
  for (const table of anew.tables.keys()) {
    const contents = (of: ViewRows) => canonicalJson([...of.of(table)].toSorted(byId));
    if (contents(tables.views) !== contents(anew)) report(`${table} is not what the log folds to`);
  }
};

const byId = ([one]: readonly [string, Row], [other]: readonly [string, Row]): number =>
  one < other ? -1 : 1;
