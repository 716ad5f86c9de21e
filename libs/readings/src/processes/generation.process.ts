import { selectEvents } from '#event-sourcing/core/event-catalogue.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import { defineProcess, statement, type Reaction } from '#event-sourcing/processes/process.js';
import { instant } from '#event-sourcing/core/clock.js';
import { addJob, removeJob } from '#platform/jobs/job.js';
import {
  readingJobAfter,
  readingJobKey,
  readingJobKind,
  readingJobPriority,
  readingTurn,
  type ReadingJobKind,
} from '../contracts/reading-job.js';
import { addEndBatchJob } from '../application/end-batch.js';
import { batchEvents, readingEvents } from '../contracts/events.js';

export const GENERATION = 'readings.generation.v1';
export const GENERATE_READING = readingJobKind('readings.generate', 2);
export const DELAY_READING = readingJobKind('readings.delay');
export const TIME_OUT_READING = readingJobKind('readings.time-out');

/** @param delayedAfterMs, timeoutMs milliseconds after acceptance */
export const generationProcess = (bounds: { delayedAfterMs: number; timeoutMs: number }) =>
  defineProcess({
    name: GENERATION,
    catalogues: [
      selectEvents(
        readingEvents,
        'ReadingRequested',
        'ReadingAttemptFailed',
        'ReadingCompleted',
        'ReadingFailed',
      ),
      selectEvents(batchEvents, 'BatchRequested'),
    ],
    react: (event) => {
      if (event.type === 'BatchRequested') return [statement(addEndBatchJob(event))];
      const readingId = streamId(event.stream);
      const payload = readingJobAfter(event);
      const timer = (kind: ReadingJobKind, runAt: string): Reaction<never> =>
        statement(addJob(kind, payload, { key: readingJobKey(kind, readingId), runAt }));
      const key = readingJobKey(GENERATE_READING, readingId);
      switch (event.type) {
        case 'ReadingRequested': {
          const acceptedAt = Date.parse(event.metadata.occurredAt);
          return [
            statement(
              addJob(GENERATE_READING, payload, {
                key,
                priority: readingJobPriority(GENERATE_READING, payload),
                turn: readingTurn(GENERATE_READING, event),
              }),
            ),
            timer(DELAY_READING, instant(acceptedAt + bounds.delayedAfterMs)),
            timer(TIME_OUT_READING, instant(acceptedAt + bounds.timeoutMs)),
          ];
        }
        case 'ReadingAttemptFailed':
          // It has had its turn: nobody who came later goes before it.
          return [
            statement(
              addJob(GENERATE_READING, payload, {
                key,
                priority: readingJobPriority({ priority: 0 }, payload),
                runAt: event.data.retryAt,
              }),
            ),
          ];
        case 'ReadingCompleted':
        case 'ReadingFailed':
          return [DELAY_READING, TIME_OUT_READING].map((kind) =>
            statement(removeJob(readingJobKey(kind, readingId))),
          );
      }
    },
  });
