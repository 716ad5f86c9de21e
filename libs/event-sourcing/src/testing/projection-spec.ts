import assert from 'node:assert/strict';
import { decodeAny } from '../core/event-catalogue.js';
import type { StoredEvent } from '../core/event.js';
import type { Projection } from '../projections/projection.js';

type Row = Readonly<Record<string, unknown>>;

/**
 * `given(projection, events).thenRows({ table: [row, …] })` specifies a projection in one sentence. The projection's
 * catalogues decode the events. Rows are in the order in which they were created. Only the named tables are compared.
 * Throws AssertionError, or any error of a view.
 */
export const given = (projection: Projection, events: readonly StoredEvent[]) => {
  const tables = new Map(projection.views.map((view) => [view.table, new Map<string, Row>()]));
  for (const stored of events) {
    const event = decodeAny(projection.catalogues, stored);
    if (event === null) continue;
    for (const view of projection.views) {
      const rows = tables.get(view.table)!;
      const key = view.keyOf(event);
      if (key === null) continue;
      const id = JSON.stringify(view.key.map((column) => String(key[column])));
      const row = view.evolve(rows.get(id) ?? null, event);
      if (row === null) rows.delete(id);
      else rows.set(id, row);
    }
  }
  return {
    thenRows(expected: Readonly<Record<string, readonly Row[]>>): void {
      for (const [table, rows] of Object.entries(expected)) {
        assert.ok(tables.has(table), `${projection.name} has no table ${table}`);
        assert.deepStrictEqual([...tables.get(table)!.values()], [...rows]);
      }
    },
  };
};
