import { describe, expect, it } from '@jest/globals';
import { CorruptEvent } from '../core/event-catalogue.js';
import type { StoredEvent } from '../core/event.js';
import { addedToAppend, tallyEvents } from '../testing/tally.js';
import { projectionConsumer } from './projection.js';
import { sql } from './statement.js';

const stored = (stream: string, changes: Partial<StoredEvent> = {}): StoredEvent => ({
  ...addedToAppend('id', 'ref', 2),
  stream,
  revision: 0n,
  position: 100n,
  ...changes,
});

const view = projectionConsumer({
  name: 'tally.view.v1',
  catalogues: [tallyEvents],
  project: (event) => [
    sql`insert into t values (${event.stream}, ${event.type})`,
    sql`select ${event.revision}`,
  ],
});

describe('projectionConsumer', () => {
  it('follows the categories of its catalogues from the beginning and parks what it cannot apply', () => {
    expect(view).toMatchObject({
      name: 'tally.view.v1',
      categories: ['tally'],
      birth: 'beginning',
      onPoison: 'park',
    });
    expect(view.dispatch).toBeUndefined();
  });

  it('turns each event into its statements, in order', () => {
    expect(
      view.statements([stored('tally-1'), stored('tally-2', { revision: 1n })]).map(({ values }) => values),
    ).toEqual([['tally-1', 'Added'], [0n], ['tally-2', 'Added'], [1n]]);
  });

  it('passes over what it does not follow', () => {
    expect(view.statements([stored('sum-1'), stored('tally-1', { type: 'Renamed' })])).toEqual([]);
  });

  it('does not pass over a corrupt event', () => {
    expect(() => view.statements([stored('tally-1', { data: {} })])).toThrow(CorruptEvent);
  });
});
