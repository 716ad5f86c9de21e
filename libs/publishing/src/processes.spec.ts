import { describe, it } from '@jest/globals';
import { requestedBy } from '#event-sourcing/core/request-context.js';
import { command } from '#event-sourcing/processes/process.js';
import { given } from '#event-sourcing/testing/process-spec.js';
import { recorded } from '#event-sourcing/testing/recorded.js';
import { EraseReading } from '#readings/contracts/index.js';
import type { PublicationEvent } from './contracts/index.js';
import { erasureProcess } from './processes.js';

const publication = (event: PublicationEvent) => recorded('publication-7f9c', event);

describe('the erasure process', () => {
  it('finishes an erasure once its publication is withdrawn', () => {
    given(
      erasureProcess,
      publication({ type: 'PublicationWithdrawn', data: { workspaceId: 'ws_1' } }),
    ).thenSends(command(new EraseReading('7f9c', 'ws_1', requestedBy('system:spec', 'correlation'))));
  });

  it('erases nothing when a publication failed', () => {
    const data = { workspaceId: 'ws_1', version: 1, code: 'typesetting_failed' };
    given(erasureProcess, publication({ type: 'PublicationFailed', data })).thenSends();
  });
});
