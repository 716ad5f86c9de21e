import { describe, it } from '@jest/globals';
import { statement } from '#event-sourcing/processes/process.js';
import { given } from '#event-sourcing/testing/process-spec.js';
import { recorded } from '#event-sourcing/testing/recorded.js';
import { addJob, removeJob } from '#platform/jobs/job.js';
import { END_BATCH } from '../application/end-batch/end-batch.job.js';
import { readingEvents, type ReadingEvent } from '../contracts/events.js';
import {
  DELAY_READING,
  GENERATE_READING,
  TIME_OUT_READING,
  generationProcess,
} from './generation.process.js';

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
const REQUEST = {
  ...ids,
  productId: 'theme',
  profileId: 'evan',
  locale: 'fr-FR',
  asOf: '2026-04-12',
  sealedInput: 'sealed',
  cost: 20,
};

describe('the generation process', () => {
  it.each([
    ['ordered alone', 'correlation', { ...TURN, isBulk: false }],
    ['of a batch', 'batch-1', { ...TURN, isBulk: true }],
  ])('has a reading %s generated in turn, and sets its timers', (_, causationId, turn) => {
    const requested = readingEvents.definitions.ReadingRequested.schema.parse(REQUEST);
    given(process, reading({ type: 'ReadingRequested', data: requested }, causationId)).thenSends(
      statement(addJob(GENERATE_READING, payload, { key: 'readings.generate:7f9c', priority: 1, turn })),
      statement(
        addJob(DELAY_READING, payload, { key: 'readings.delay:7f9c', runAt: '2026-04-12T10:05:00.000Z' }),
      ),
      statement(
        addJob(TIME_OUT_READING, payload, {
          key: 'readings.time-out:7f9c',
          runAt: '2026-04-13T10:00:00.000Z',
        }),
      ),
    );
  });

  it('has a test reading generated after live ones that wait', () => {
    const requested = readingEvents.definitions.ReadingRequested.schema.parse({
      ...REQUEST,
      livemode: false,
    });
    const { readingId, workspaceId, ...cause } = payload;
    const test = { readingId, workspaceId, mode: 'test' as const, ...cause };
    given(process, reading({ type: 'ReadingRequested', data: requested })).thenSends(
      statement(addJob(GENERATE_READING, test, { key: 'readings.generate:7f9c', priority: 5, turn: TURN })),
      statement(
        addJob(DELAY_READING, test, { key: 'readings.delay:7f9c', runAt: '2026-04-12T10:05:00.000Z' }),
      ),
      statement(
        addJob(TIME_OUT_READING, test, {
          key: 'readings.time-out:7f9c',
          runAt: '2026-04-13T10:00:00.000Z',
        }),
      ),
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

  it('does nothing when an attempt starts', () => {
    const data = { attempt: 1, workerId: 'w', leaseUntil: '2026-04-12T10:01:00.000Z' };
    given(process, reading({ type: 'ReadingStarted', data })).thenSends();
  });
});
