import { assertNever } from '@app/event-sourcing/core/decision.js';
import type { Recorded } from '@app/event-sourcing/core/event.js';
import { streamId } from '@app/event-sourcing/core/stream-name.js';
import type { Projection } from '@app/event-sourcing/projections/projection.js';
import { sql, type Statement } from '@app/event-sourcing/projections/statement.js';
import { publicationEvents, type PublicationEvent } from '@app/publishing/contracts/index.js';
import { readingEvents, type ReadingEvent } from '../../contracts/events.js';

/** How long a queued reading may wait before it is offered to the workers again (its job was lost with a worker). */
const OFFER_AGAIN_SECONDS = 30;

const projectReading = (event: Recorded<ReadingEvent>): readonly Statement[] => {
  const id = streamId(event.stream);
  const at = event.metadata.occurredAt;
  switch (event.type) {
    case 'ReadingRequested': {
      const { workspaceId, productId, profileId, locale, sealedInput } = event.data;
      return [
        sql`insert into readings.reading (reading_id, workspace_id, status, product_id, profile_id, locale, sealed_input,
              created_at, updated_at, due_at, correlation_id)
            values (${id}, ${workspaceId}, 'queued', ${productId}, ${profileId}, ${locale}, ${sealedInput}, ${at}, ${at},
              ${at}::timestamptz + make_interval(secs => ${OFFER_AGAIN_SECONDS}), ${event.metadata.correlationId})
            on conflict (reading_id) do nothing`,
      ];
    }
    case 'ReadingStarted':
      return [
        sql`update readings.reading set status = 'processing', updated_at = ${at}, due_at = ${event.data.leaseUntil}
            where reading_id = ${id} and status in ('queued', 'processing')`,
      ];
    case 'ReadingAttemptFailed':
      return [
        sql`update readings.reading set status = 'queued', updated_at = ${at},
              due_at = ${event.data.retryAt}::timestamptz + make_interval(secs => ${OFFER_AGAIN_SECONDS})
            where reading_id = ${id} and status in ('queued', 'processing')`,
      ];
    case 'ReadingCompleted': {
      const { workspaceId, sealedResult, resultSha256 } = event.data;
      return [
        sql`insert into readings.result (reading_id, workspace_id, sealed_result, sha256)
            values (${id}, ${workspaceId}, ${sealedResult}, ${resultSha256}) on conflict (reading_id) do nothing`,
        sql`update readings.reading set status = 'completed', updated_at = ${at}, completed_at = ${at}, due_at = null
            where reading_id = ${id}`,
      ];
    }
    case 'ReadingFailed':
      return [
        sql`update readings.reading set status = 'failed', updated_at = ${at}, failed_at = ${at}, due_at = null,
              error_code = ${event.data.code} where reading_id = ${id}`,
      ];
    case 'ReadingErased':
      return [
        sql`update readings.reading set erased_at = ${at}, updated_at = ${at}, sealed_input = '' where reading_id = ${id}`,
        sql`delete from readings.result where reading_id = ${id}`,
        // Done already by who erased it, unless that process was killed in between.
        sql`delete from platform.subject_key where subject_id = ${id}`,
      ];
    case 'ReadingDelayed':
    case 'ReadingAbandoned':
      return [];
    default:
      return assertNever(event);
  }
};

const projectPublication = (event: Recorded<PublicationEvent>): readonly Statement[] => {
  if (event.type !== 'DocumentPublished') return [];
  const { version, artifactId, publishedAt } = event.data;
  return [
    sql`update readings.reading set document_version = ${version}, artifact_id = ${artifactId},
          published_at = ${publishedAt}, updated_at = greatest(updated_at, ${publishedAt}::timestamptz)
        where reading_id = ${streamId(event.stream)} and (document_version is null or document_version < ${version})`,
  ];
};

/** The reading resource: its state, its result and its publication. */
export const readingProjection: Projection = {
  name: 'readings.reading.v1',
  catalogues: [readingEvents, publicationEvents],
  project: (event) =>
    event.stream.startsWith('publication-')
      ? projectPublication(event as Recorded<PublicationEvent>)
      : projectReading(event as Recorded<ReadingEvent>),
};
