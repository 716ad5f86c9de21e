import { selectEvents } from '@app/event-sourcing/core/event-catalogue.js';
import { streamId } from '@app/event-sourcing/core/stream-name.js';
import { defineProcess, statement } from '@app/event-sourcing/processes/process.js';
import { addJob } from '@app/platform/jobs/job.js';
import {
  readingEvents,
  readingJobAfter,
  readingJobKey,
  readingJobKind,
} from '@app/readings/contracts/index.js';

export const PUBLISH_DOCUMENT = readingJobKind('publishing.publish');

/** Publishes completed readings. */
export const publicationProcess = defineProcess({
  name: 'publishing.publication.v1',
  catalogues: [selectEvents(readingEvents, 'ReadingCompleted')],
  react: (event) => {
    const key = readingJobKey(PUBLISH_DOCUMENT, streamId(event.stream));
    return [statement(addJob(PUBLISH_DOCUMENT, readingJobAfter(event), { key }))];
  },
});
