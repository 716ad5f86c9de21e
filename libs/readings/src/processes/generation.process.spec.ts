import { describe, it } from '@jest/globals';
import { statement } from '#event-sourcing/processes/process.js';
import { given } from '#event-sourcing/testing/process-spec.js';
import { recorded } from '#event-sourcing/testing/recorded.js';
import { addJob, removeJob } from '#platform/jobs/job.js';
import { END_BATCH } from '../application/end-batch.js';
import { REQUEST } from '../../test/readings.js';
import type { ReadingEvent } from '../contracts/events.js';
import {
  DELAY_READING,
  GENERATE_READING,
  TIME_OUT_READING,
  generationProcess,
} from '../application/generate-reading.js';

const process = generationProcess({ delayedAfterMs: 300_000, timeoutMs: 86_400_000 });
const reading = (event: ReadingEvent, causationId = 'correlation') =>
  recorded('reading-7f9c', event, {
    metadata: { occurredAt: '2026-04-12T10:00:00.000Z', causationId },
  });

const payload = {
  readingId: '7f9c',
  workspaceId: 'ws_1',
  correlationId: 'correlation',
  causationId: 'event-1',
};
const TURN = { workspaceId: 'ws_1', isBulk: false, length: 2 };
const ids = { workspaceId: 'ws_1', livemode: true, reservationId: 'r_1' };

describe('the generation process', () => {
  it.each([
    ['ordered alone', { isBulk: false, livemode: true, priority: 1 }],
    ['of a batch', { isBulk: true, livemode: true, priority: 1 }],
    ['for a test, after live ones that wait,', { isBulk: false, livemode: false, priority: 5 }],
  ])('has a reading %s generated in turn, and sets its timers', (_, { isBulk, livemode, priority }) => {
    const { readingId, workspaceId, ...cause } = payload;
    const job = { readingId, workspaceId, ...(!livemode && { mode: 'test' as const }), ...cause };
    const requested = { type: 'ReadingRequested', data: { ...REQUEST, livemode } } as const;
    const [delay, timeOut] = ['2026-04-12T10:05:00.000Z', '2026-04-13T10:00:00.000Z'] as const;
    const turn = { ...TURN, isBulk };
    given(process, reading(requested, isBulk ? 'batch-1' : undefined)).thenSends(
      statement(addJob(GENERATE_READING, job, { key: 'readings.generate:7f9c', priority, turn })),
      statement(addJob(DELAY_READING, job, { key: 'readings.delay:7f9c', runAt: delay })),
      statement(addJob(TIME_OUT_READING, job, { key: 'readings.time-out:7f9c', runAt: timeOut })),
    );
  });

  it('retries at the time that a failed attempt names, before readings that have not begun', () => {
    const data = { attempt: 1, code: 'generation_failed', retryAt: '2026-04-12T10:00:04.000Z' } as const;
    given(process, reading({ type: 'ReadingAttemptFailed', data })).thenSends(
      statement(
        addJob(GENERATE_READING, payload, {
          key: 'readings.generate:7f9c',
          priority: 0,
          runAt: data.retryAt,
        }),
      ),
    );
  });

  it('removes the timers of a reading that has ended', () => {
    const data = { ...ids, code: 'timed_out', attempts: 5 } as const;
    given(process, reading({ type: 'ReadingFailed', data })).thenSends(
      statement(removeJob('readings.delay:7f9c')),
      statement(removeJob('readings.time-out:7f9c')),
    );
  });

  it('has a batch looked at from its request on', () => {
    const data = { workspaceId: 'ws_1', livemode: true, mode: 'all', items: 2 } as const;
    const batch = recorded('batch-b1', {
      type: 'BatchRequested',
      data: { ...data, refused: [], invalid: [] },
    });
    const { readingId: _, ...ofBatch } = payload;
    given(process, batch).thenSends(
      statement(addJob(END_BATCH, { batchId: 'b1', ...ofBatch }, { key: 'readings.end-batch:b1' })),
    );
  });
});
