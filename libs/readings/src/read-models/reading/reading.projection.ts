import type { RecordedOf } from '#event-sourcing/core/event-catalogue.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import { defineProjection } from '#event-sourcing/projections/projection.js';
import { sql } from '#event-sourcing/projections/statement.js';
import { view } from '#event-sourcing/projections/view.js';
import { readingEvents } from '../../contracts/events.js';
import type { PublicationFeed } from '../../contracts/ports/index.js';
import { evolveReading, type ReadingRow } from './reading-row.js';

interface ResultRow {
  readonly reading_id: string;
  readonly workspace_id: string;
  readonly livemode: boolean;
  readonly sealed_result: string;
}

type Event = RecordedOf<readonly [typeof readingEvents, PublicationFeed]>;

const byReading = ({ stream }: Event) => ({ reading_id: streamId(stream) });

const readings = view<ReadingRow, Event>({
  table: 'readings.reading',
  key: ['reading_id'],
  keyOf: byReading,
  evolve: evolveReading,
});

const results = view<ResultRow, Event>({
  table: 'readings.result',
  key: ['reading_id'],
  keyOf: (event) =>
    event.type === 'ReadingCompleted' || event.type === 'ReadingErased' ? byReading(event) : null,
  evolve(row, event) {
    if (event.type === 'ReadingErased') return null;
    if (event.type !== 'ReadingCompleted' || row !== null) return row;
    const { workspaceId, livemode, sealedResult } = event.data;
    return { ...byReading(event), workspace_id: workspaceId, livemode, sealed_result: sealedResult };
  },
});

export const READING_PROJECTION = 'readings.reading.v1';

/** The reading resource: its state, its result and its publication. */
export const readingProjection = (feed: PublicationFeed) =>
  defineProjection({
    name: READING_PROJECTION,
    catalogues: [readingEvents, feed],
    views: [readings, results],
    // The erase command has usually done it already. A process killed in between has not.
    effects: ({ type, stream }) =>
      type === 'ReadingErased'
        ? [sql`delete from platform.subject_key where subject_id = ${streamId(stream)}`]
        : [],
  });
