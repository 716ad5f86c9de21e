import { describe, it } from '@jest/globals';
import { given } from '#event-sourcing/testing/decider-spec.js';
import type { BatchEvent } from '../contracts/events.js';
import { batchDecider, type BatchCommand, type BatchEndings } from './batch.decider.js';

const batch = {
  workspaceId: 'ws_1',
  livemode: false,
  mode: 'available' as const,
  items: 4,
  refused: [2],
  invalid: [2],
};
const requested: BatchEvent = { type: 'BatchRequested', data: batch };
const at = '2026-04-12T10:00:00.000Z';
const none = { published: 0, failed: 0, erased: 0, notAccepted: 0 };
const end = (endings: Partial<BatchEndings>): BatchCommand => ({
  type: 'EndBatch',
  endings: { ...none, ...endings },
  at,
});
const ended: BatchEvent = {
  type: 'BatchEnded',
  data: {
    workspaceId: 'ws_1',
    livemode: false,
    items: 4,
    refused: 1,
    ...none,
    published: 2,
    failed: 1,
    endedAt: at,
  },
};

describe('A batch', () => {
  it('is requested once', () => {
    given(batchDecider, []).when({ type: 'RequestBatch', batch }).then(requested);
    given(batchDecider, [requested]).when({ type: 'RequestBatch', batch }).thenIgnores('AlreadyRequested');
    given(batchDecider, [requested, ended])
      .when({ type: 'RequestBatch', batch })
      .thenIgnores('AlreadyRequested');
  });

  it('ends when each accepted reading has ended, in whatever way', () => {
    given(batchDecider, [requested])
      .when(end({ published: 2, failed: 1 }))
      .then(ended);
    given(batchDecider, [requested])
      .when(end({ published: 1, erased: 1, notAccepted: 1 }))
      .thenTypes('BatchEnded');
  });

  it('does not end while a reading is open', () => {
    given(batchDecider, [requested])
      .when(end({ published: 2 }))
      .thenRejects('ReadingsOpen');
    given(batchDecider, []).when(end({})).thenRejects('BatchNotFound');
  });

  it('ends once', () => {
    given(batchDecider, [requested, ended])
      .when(end({ failed: 3 }))
      .thenIgnores('AlreadyEnded');
  });
});
