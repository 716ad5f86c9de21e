import { describe, it } from '@jest/globals';
import { given } from '#event-sourcing/testing/projection-spec.js';
import { recorded } from '#event-sourcing/testing/recorded.js';
import type { BatchEvent } from '../contracts/events.js';
import { batchProjection } from '../projections.js';

const BATCH = '0d9b7c1e-2f64-8a35-9c1d-6e0f4b2a7d18';
const happened = (revision: number, event: BatchEvent) =>
  recorded(`batch-${BATCH}`, event, {
    revision: BigInt(revision),
    metadata: { occurredAt: '2026-04-12T10:00:00.000Z', correlationId: 'req_1' },
  });
const requested = happened(0, {
  type: 'BatchRequested',
  data: { workspaceId: 'ws_1', livemode: false, mode: 'available', items: 3, refused: [1], invalid: [1] },
});
const ended = happened(1, {
  type: 'BatchEnded',
  data: {
    workspaceId: 'ws_1',
    livemode: false,
    items: 3,
    refused: 1,
    published: 2,
    failed: 0,
    erased: 0,
    notAccepted: 0,
    endedAt: '2026-04-12T10:05:00.000Z',
  },
});
const row = {
  batch_id: BATCH,
  workspace_id: 'ws_1',
  livemode: false,
  accepted: 2,
  requested_at: '2026-04-12T10:00:00.000Z',
  ended_at: null,
  correlation_id: 'req_1',
};

describe('the row of a batch', () => {
  it('says that it is open until it has ended', () => {
    given(batchProjection, [requested]).thenRows({ 'readings.batch': [row] });
    given(batchProjection, [requested, ended]).thenRows({
      'readings.batch': [{ ...row, ended_at: '2026-04-12T10:05:00.000Z' }],
    });
  });
});
