import type { Recorded } from '@app/event-sourcing/core/event.js';
import { streamId } from '@app/event-sourcing/core/stream-name.js';
import { statement, type Process, type Reaction } from '@app/event-sourcing/processes/process.js';
import { instant } from '@app/event-sourcing/core/clock.js';
import { addJob, removeJob } from '@app/platform/jobs/jobs.js';
import { readingJobAfter } from '@app/platform/jobs/reading-job.js';
import { readingEvents, type ReadingEvent } from '../contracts/events.js';

export const GENERATION = 'readings.generation.v1';
export const GENERATE_READING = 'readings.generate';
export const DELAY_READING = 'readings.delay';
export const TIME_OUT_READING = 'readings.time-out';

/** @param delayedAfterMs, timeoutMs milliseconds after acceptance */
export const generationProcess = (bounds: { delayedAfterMs: number; timeoutMs: number }): Process<never> => ({
  name: GENERATION,
  catalogues: [readingEvents],
  react: (recorded) => {
    const event = recorded as Recorded<ReadingEvent>;
    const readingId = streamId(event.stream);
    const payload = readingJobAfter(event);
    const job = (task: string, runAt?: string): Reaction<never> =>
      statement(addJob({ task, payload, key: `${task}:${readingId}`, ...(runAt ? { runAt } : {}) }));
    switch (event.type) {
      case 'ReadingRequested': {
        const acceptedAt = Date.parse(event.metadata.occurredAt);
        return [
          job(GENERATE_READING),
          job(DELAY_READING, instant(acceptedAt + bounds.delayedAfterMs)),
          job(TIME_OUT_READING, instant(acceptedAt + bounds.timeoutMs)),
        ];
      }
      case 'ReadingAttemptFailed':
        return [job(GENERATE_READING, event.data.retryAt)];
      case 'ReadingCompleted':
      case 'ReadingFailed':
        return [DELAY_READING, TIME_OUT_READING].map((task) => statement(removeJob(`${task}:${readingId}`)));
      default:
        return [];
    }
  },
});
