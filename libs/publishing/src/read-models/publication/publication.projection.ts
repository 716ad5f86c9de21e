import { assertNever } from '@app/event-sourcing/core/decision.js';
import type { Recorded } from '@app/event-sourcing/core/event.js';
import { streamId } from '@app/event-sourcing/core/stream-name.js';
import type { Projection } from '@app/event-sourcing/projections/projection.js';
import { sql, type Statement } from '@app/event-sourcing/projections/statement.js';
import { readingEvents, type ReadingEvent } from '@app/readings/contracts/index.js';
import { publicationEvents, type PublicationEvent } from '../../contracts/events.js';

/** How long a publication may take before its job is taken for lost and added again. */
const OFFER_AGAIN_SECONDS = 30;

const project = (event: Recorded<PublicationEvent | ReadingEvent>): readonly Statement[] => {
  const readingId = streamId(event.stream);
  switch (event.type) {
    case 'ReadingCompleted':
      return [
        sql`insert into publishing.publication (reading_id, version, workspace_id, artifact_id, due_at, correlation_id)
            values (${readingId}, 1, ${event.data.workspaceId}, '',
              ${event.metadata.occurredAt}::timestamptz + make_interval(secs => ${OFFER_AGAIN_SECONDS}),
              ${event.metadata.correlationId})
            on conflict (reading_id, version) do nothing`,
      ];
    case 'DocumentPublished': {
      const { workspaceId, version, artifactId, publishedAt } = event.data;
      return [
        sql`insert into publishing.publication (reading_id, version, workspace_id, artifact_id, published_at, correlation_id)
            values (${readingId}, ${version}, ${workspaceId}, ${artifactId}, ${publishedAt}, ${event.metadata.correlationId})
            on conflict (reading_id, version) do update
              set artifact_id = excluded.artifact_id, published_at = excluded.published_at, due_at = null`,
      ];
    }
    case 'ReadingErased':
      // Unreadable without the reading's key; nothing is left to be kept or offered again.
      return [
        sql`delete from publishing.artifact where reading_id = ${readingId}`,
        sql`update publishing.publication set due_at = null where reading_id = ${readingId}`,
      ];
    case 'PublicationRequested':
    case 'PublicationFailed':
    case 'ReadingRequested':
    case 'ReadingStarted':
    case 'ReadingAttemptFailed':
    case 'ReadingDelayed':
    case 'ReadingFailed':
    case 'ReadingAbandoned':
      return [];
    default:
      return assertNever(event);
  }
};

/** Which versions of which readings are published, and which still should be. */
export const publicationProjection: Projection = {
  name: 'publishing.publication-view.v1',
  catalogues: [readingEvents, publicationEvents],
  project: (event) => project(event as Recorded<PublicationEvent | ReadingEvent>),
};
