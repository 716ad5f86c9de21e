import { describe, it } from '@jest/globals';
import { statement } from '#event-sourcing/processes/process.js';
import { given } from '#event-sourcing/testing/process-spec.js';
import { recorded } from '#event-sourcing/testing/recorded.js';
import { addJob } from '#platform/jobs/job.js';
import type { ReadingEvent } from '#readings/contracts/index.js';
import type { PublicationEvent } from './contracts/index.js';
import { PUBLISH_DOCUMENT, publicationProcess } from './processes.js';

const reading = (event: ReadingEvent) => recorded('reading-7f9c', event);
const TURN = { workspaceId: 'ws_1', isBulk: false, length: 1 };
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
          { key: 'publishing.publish:7f9c', priority: 1, turn: TURN },
        ),
      ),
    );
  });

  it('has a test reading published after live ones that wait', () => {
    const data = { ...ids, livemode: false, attempt: 1, sealedResult: 'sealed' };
    const payload = {
      readingId: '7f9c',
      workspaceId: 'ws_1',
      mode: 'test' as const,
      correlationId: 'correlation',
      causationId: 'event-1',
    };
    given(publicationProcess, reading({ type: 'ReadingCompleted', data })).thenSends(
      statement(
        addJob(PUBLISH_DOCUMENT, payload, { key: 'publishing.publish:7f9c', priority: 5, turn: TURN }),
      ),
    );
  });

  it('has a later version published after first ones that wait, and leaves the first to its own job', () => {
    const publication = (event: PublicationEvent) => recorded('publication-7f9c', event);
    const requested = (version: number): PublicationEvent => ({
      type: 'PublicationRequested',
      data: {
        workspaceId: 'ws_1',
        livemode: true,
        version,
        artifactId: 'art_1',
        publishedAt: '2026-09-29T08:00:00.000Z',
        paper: 'a4',
      },
    });
    given(publicationProcess, publication(requested(1))).thenSends();
    given(publicationProcess, publication(requested(2))).thenSends(
      statement(
        addJob(
          PUBLISH_DOCUMENT,
          { readingId: '7f9c', workspaceId: 'ws_1', correlationId: 'correlation', causationId: 'event-1' },
          { key: 'publishing.publish:7f9c', priority: 10, turn: TURN },
        ),
      ),
    );
  });

  it('publishes nothing of a reading that failed', () => {
    const data = { ...ids, code: 'timed_out', attempts: 5 } as const;
    given(publicationProcess, reading({ type: 'ReadingFailed', data })).thenSends();
  });
});
