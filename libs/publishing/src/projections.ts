import { instant } from '#event-sourcing/core/clock.js';
import { type RecordedOf, selectEvents } from '#event-sourcing/core/event-catalogue.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import { defineProjection, type Projection } from '#event-sourcing/projections/projection.js';
import { sql } from '#event-sourcing/projections/statement.js';
import { view } from '#event-sourcing/projections/view.js';
import { readingEvents } from '#readings/contracts/events.js';
import { publicationEvents } from './contracts/index.js';
import { FIRST_VERSION } from './domain/publication.decider.js';

interface PublicationRow {
  readonly reading_id: string;
  readonly version: number;
  readonly workspace_id: string;
  readonly artifact_id: string;
  readonly published_at: string | null;
  readonly due_at: string | null;
  readonly correlation_id: string;
  readonly content_version: string | null;
}

/** The later version of a reading's document that is being made. */
interface RepublicationRow {
  readonly reading_id: string;
  readonly version: number;
  readonly workspace_id: string;
  readonly due_at: string;
  readonly correlation_id: string;
}

const followed = [
  selectEvents(readingEvents, 'ReadingCompleted', 'ReadingErased'),
  publicationEvents,
] as const;

/** How long a publication may take before its job counts as lost and is added again. */
const REQUEUE_AFTER_MS = 30_000;
const dueAfter = (occurredAt: string): string => instant(Date.parse(occurredAt) + REQUEUE_AFTER_MS);

const publications = view<PublicationRow, RecordedOf<typeof followed>>({
  table: 'publishing.publication',
  key: ['reading_id', 'version'],
  keyOf: (event) => ({
    reading_id: streamId(event.stream),
    version: 'version' in event.data ? event.data.version : FIRST_VERSION,
  }),
  evolve(row, event) {
    const reading_id = streamId(event.stream);
    const { correlationId: correlation_id, occurredAt } = event.metadata;
    switch (event.type) {
      case 'ReadingCompleted':
        return (
          row ?? {
            reading_id,
            version: FIRST_VERSION,
            workspace_id: event.data.workspaceId,
            artifact_id: '',
            published_at: null,
            due_at: dueAfter(occurredAt),
            correlation_id,
            content_version: null,
          }
        );
      case 'DocumentPublished': {
        const { workspaceId, version, artifactId, publishedAt, contentVersion } = event.data;
        const known = row ?? { reading_id, version, workspace_id: workspaceId, correlation_id };
        return {
          ...known,
          artifact_id: artifactId,
          published_at: publishedAt,
          due_at: null,
          content_version: contentVersion,
        };
      }
      case 'PublicationFailed':
      case 'ReadingErased':
        // Unreadable without the reading's key: no publication is due any more.
        return row && { ...row, due_at: null };
      case 'PublicationRequested':
      case 'PublicationWithdrawn':
        // Followed so that one that does not belong to the reading is found.
        return row;
    }
  },
});

/** At most one version of a reading is being made. A withdrawn publication has none. */
const republications = view<RepublicationRow, RecordedOf<typeof followed>>({
  table: 'publishing.republication',
  key: ['reading_id'],
  keyOf: ({ stream, type, data }) =>
    type === 'PublicationWithdrawn' || ('version' in data && data.version > FIRST_VERSION)
      ? { reading_id: streamId(stream) }
      : null,
  evolve(row, event) {
    if (event.type !== 'PublicationRequested') return null;
    const { correlationId: correlation_id, occurredAt } = event.metadata;
    const { workspaceId: workspace_id, version } = event.data;
    const reading_id = streamId(event.stream);
    return row ?? { reading_id, version, workspace_id, due_at: dueAfter(occurredAt), correlation_id };
  },
});

/** The published versions of readings, and those that are still due. */
export const publicationProjection = defineProjection({
  name: 'publishing.publication-view.v1',
  catalogues: followed,
  views: [publications, republications],
  effects: ({ type, stream, metadata }) =>
    type === 'ReadingErased'
      ? [
          // Runs first, although readings does it too. It waits for artifacts that are being stored; none is stored
          // afterwards.
          sql`delete from platform.subject_key where subject_id = ${streamId(stream)}`,
          sql`delete from publishing.artifact where reading_id = ${streamId(stream)}`,
          sql`
            update publishing.document_link set revoked_at = ${metadata.occurredAt}
            where reading_id = ${streamId(stream)} and revoked_at is null`,
        ]
      : [],
});

/** For the worker, which keeps them, and the operator, who may rebuild them. Loads no framework. */
export const publishingProjections: readonly Projection[] = [publicationProjection];
