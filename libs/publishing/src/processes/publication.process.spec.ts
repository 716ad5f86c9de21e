import { describe, it } from '@jest/globals';
import { statement } from '@app/event-sourcing/processes/process.js';
import { given } from '@app/event-sourcing/testing/process-spec.js';
import { recorded } from '@app/event-sourcing/testing/recorded.js';
import { addJob } from '@app/platform/jobs/job.js';
import type { ReadingEvent } from '@app/readings/contracts/index.js';
import { PUBLISH_DOCUMENT, publicationProcess } from './publication.process.js';

const reading = (event: ReadingEvent) => recorded('reading-7f9c', event);
const ids = { workspaceId: 'ws_1', livemode: true, reservationId: 'r_1' };

describe('the publication process', () => {
  it('has a completed reading published', () => {
    const data = { ...ids, attempt: 1, sealedResult: 'sealed' };
    given(publicationProcess, reading({ type: 'ReadingCompleted', data })).thenSends(
      statement(
        addJob(
          PUBLISH_DOCUMENT,
          {
            readingId: '7f9c',
            workspaceId: 'ws_1',
            correlationId: 'correlation',
            causationId: 'event-1',
          },
          { key: 'publishing.publish:7f9c' },
        ),
      ),
    );
  });

  it('publishes nothing of a reading that failed', () => {
    const data = { ...ids, code: 'timed_out', attempts: 5 } as const;
    given(publicationProcess, reading({ type: 'ReadingFailed', data })).thenSends();
  });
});
