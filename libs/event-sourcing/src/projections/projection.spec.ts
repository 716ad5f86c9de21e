import { describe, expect, it } from '@jest/globals';
import { selectEvents } from '../core/event-catalogue.js';
import type { StoredEvent } from '../core/event.js';
import { addedToAppend, tallyEvents, totalView } from '../testing/tally.js';
import { defineProjection, projectionConsumer } from './projection.js';
import { sql } from './statement.js';

const stored = (stream: string, changes: Partial<StoredEvent> = {}): StoredEvent => ({
  ...addedToAppend('id', 'ref', 2),
  stream,
  revision: 0n,
  position: 100n,
  ...changes,
});

const totals = defineProjection({
  name: 'tally.total.v1',
  catalogues: [tallyEvents],
  views: [totalView],
  effects: ({ stream }) => [sql`insert into told values (${stream})`],
});
const live = projectionConsumer(totals);

describe('a projection', () => {
  it('runs its effects first, then folds the batch into its tables', () => {
    const events = [stored('tally-1'), stored('tally-2', { revision: 1n })];
    expect(live.steps(events)).toEqual([
      expect.objectContaining({ values: ['tally-1'] }),
      expect.objectContaining({ values: ['tally-2'] }),
      { view: totalView, table: 'public.total', events },
    ]);
  });

  it('ignores events that it does not follow', () => {
    const chosen = projectionConsumer({
      ...totals,
      catalogues: [selectEvents(tallyEvents, 'Added')],
      effects: () => [],
    });
    const ignored = [stored('sum-1'), stored('tally-1', { type: 'Renamed' })];
    expect(chosen.steps(ignored)).toEqual([]);
    expect(ignored.map((event) => chosen.follows!(event))).toEqual([false, false]);
    expect(chosen.follows!(stored('tally-1', { data: 'not what Added holds' }))).toBe(true);
    expect(live.follows!(stored('tally-1', { type: 'Renamed' }))).toBe(true);
  });
});
