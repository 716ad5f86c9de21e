import { describe, it } from '@jest/globals';
import { requestedBy } from '#event-sourcing/core/request-context.js';
import { command, statement } from '#event-sourcing/processes/process.js';
import { given } from '#event-sourcing/testing/process-spec.js';
import { recorded } from '#event-sourcing/testing/recorded.js';
import { addJob } from '#platform/jobs/job.js';
import { EraseReading, type ReadingEvent } from '#readings/contracts/index.js';
import type { PublicationEvent } from './contracts/index.js';
import { erasureProcess, PUBLISH_DOCUMENT, publicationProcess } from './processes.js';

const reading = (event: ReadingEvent) => recorded('reading-7f9c', event);
const publication = (event: PublicationEvent) => recorded('publication-7f9c', event);
const ids = { workspaceId: 'ws_1', livemode: true, reservationId: 'r_1' };

describe('the publication process', () => {
  /** The job of this reading, with this priority. */
  const publishes = (priority: number, mode: { mode?: 'test' } = {}) => {
    const about = { readingId: '7f9c', workspaceId: 'ws_1', ...mode };
    const turn = { workspaceId: 'ws_1', isBulk: false, length: 1 };
    const cause = { correlationId: 'correlation', causationId: 'event-1' };
    const options = { key: 'publishing.publish:7f9c', priority, turn };
    return statement(addJob(PUBLISH_DOCUMENT, { ...about, ...cause }, options));
  };
  const completed = (livemode: boolean) =>
    reading({ type: 'ReadingCompleted', data: { ...ids, livemode, attempt: 1, sealedResult: 'sealed' } });
  const requested = (version: number) =>
    publication({
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

  it('has a completed reading published, one in test mode after live ones that wait', () => {
    given(publicationProcess, completed(true)).thenSends(publishes(1));
    given(publicationProcess, completed(false)).thenSends(publishes(5, { mode: 'test' }));
  });

  it('has a later version published after first ones that wait, and leaves the first to its own job', () => {
    given(publicationProcess, requested(1)).thenSends();
    given(publicationProcess, requested(2)).thenSends(publishes(10));
  });
});

describe('the erasure process', () => {
  it('finishes an erasure once its publication is withdrawn', () => {
    const withdrawn = publication({ type: 'PublicationWithdrawn', data: { workspaceId: 'ws_1' } });
    const by = requestedBy('system:spec', 'correlation');
    given(erasureProcess, withdrawn).thenSends(command(new EraseReading('7f9c', 'ws_1', by)));
  });
});
