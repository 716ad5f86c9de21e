import { streamId } from '@app/event-sourcing/core/stream-name.js';
import { statement, type Process } from '@app/event-sourcing/processes/process.js';
import { addJob } from '@app/platform/jobs/jobs.js';
import { readingJobAfter } from '@app/platform/jobs/reading-job.js';
import { readingEvents } from '@app/readings/contracts/index.js';

export const PUBLISH_DOCUMENT = 'publishing.publish';

/** A completed reading is published. */
export const publicationProcess: Process<never> = {
  name: 'publishing.publication.v1',
  catalogues: [readingEvents],
  react: (event) => {
    if (event.type !== 'ReadingCompleted') return [];
    const readingId = streamId(event.stream);
    return [
      statement(
        addJob({
          task: PUBLISH_DOCUMENT,
          key: `${PUBLISH_DOCUMENT}:${readingId}`,
          payload: readingJobAfter(event),
        }),
      ),
    ];
  },
};
