import { selectEvents } from '#event-sourcing/core/event-catalogue.js';
import { requestedBy } from '#event-sourcing/core/request-context.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import { command, defineProcess, statement } from '#event-sourcing/processes/process.js';
import { addJob } from '#platform/jobs/job.js';
import {
  EraseReading,
  type OverdueReading,
  readingEvents,
  readingJobAfter,
  readingJobAgain,
  readingJobKey,
  readingJobKind,
  readingJobPriority,
  readingTurn,
} from '#readings/contracts/index.js';
import { publicationEvents } from './contracts/index.js';

/**
 * Finishes an erasure whose process was killed between withdrawing the publication and recording the erasure. It is
 * here because it follows publication events. Its name says `readings` because stored checkpoints have that name.
 */
export const erasureProcess = defineProcess({
  name: 'readings.erasure.v1',
  catalogues: [selectEvents(publicationEvents, 'PublicationWithdrawn')],
  react: ({ stream, metadata }) => [
    command(
      new EraseReading(
        streamId(stream),
        metadata.workspaceId,
        requestedBy(metadata.actor, metadata.correlationId),
      ),
    ),
  ],
});

export const PUBLISH_DOCUMENT = readingJobKind('publishing.publish', 1);

/** Later versions wait for first ones: a new reading does not queue behind a republication of many. */
const LATER_VERSION = 10;

/** Publishes completed readings, and the later versions that are requested. The job itself requests the first one. */
export const publicationProcess = defineProcess({
  name: 'publishing.publication.v1',
  catalogues: [
    selectEvents(readingEvents, 'ReadingCompleted'),
    selectEvents(publicationEvents, 'PublicationRequested'),
  ],
  react: (event) => {
    const isLater = event.type === 'PublicationRequested';
    if (isLater && event.data.version === 1) return [];
    const key = readingJobKey(PUBLISH_DOCUMENT, streamId(event.stream));
    const payload = readingJobAfter(event);
    const priority = isLater ? LATER_VERSION : readingJobPriority(PUBLISH_DOCUMENT, payload);
    const turn = readingTurn(PUBLISH_DOCUMENT, event);
    return [statement(addJob(PUBLISH_DOCUMENT, payload, { key, priority, turn }))];
  },
});

/** A reading whose publication is overdue, as found by a query. Its mode is not in this module's tables. */
export interface OverduePublication extends OverdueReading {
  readonly is_later: boolean;
}

/** The job that repeats an overdue publication. A later version keeps its place behind first ones. */
export const publishJobAgain = ({ is_later: isLater, ...reading }: OverduePublication) => {
  const job = readingJobAgain(PUBLISH_DOCUMENT)(reading);
  return isLater ? { ...job, priority: LATER_VERSION } : job;
};
