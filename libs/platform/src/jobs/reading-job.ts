import { instant } from '@app/event-sourcing/core/clock.js';
import type { Recorded } from '@app/event-sourcing/core/event.js';
import { streamId } from '@app/event-sourcing/core/stream-name.js';
import type { CommandContext } from '@app/event-sourcing/handling/command-executor.js';
import type { JobPayload } from './job-runner.js';

/** What a job about a reading carries: ids only. */
export interface ReadingJob {
  readonly readingId: string;
  readonly workspaceId: string;
  readonly correlationId: string;
  /** Id of the event that made the job. */
  readonly causationId: string;
}

/** The payload of a job that an event of a reading makes. Its trace goes on in the job. */
export const readingJobAfter = ({ id, stream, metadata }: Recorded): JobPayload => ({
  readingId: streamId(stream),
  workspaceId: metadata.workspaceId,
  correlationId: metadata.correlationId,
  causationId: id,
  ...(metadata.traceparent && { traceparent: metadata.traceparent }),
});

export const readReadingJob = (payload: JobPayload): ReadingJob => ({
  readingId: String(payload['readingId']),
  workspaceId: String(payload['workspaceId']),
  correlationId: String(payload['correlationId']),
  causationId: String(payload['causationId']),
});

/**
 * The context of a command that the service gives itself.
 * @param process `<module>.<process>`, recorded as the actor
 * @param now milliseconds since the epoch
 */
export const systemContext = (
  job: ReadingJob,
  intent: string,
  process: string,
  now: number,
): CommandContext => ({
  intent,
  metadata: {
    correlationId: job.correlationId,
    causationId: job.causationId,
    workspaceId: job.workspaceId,
    actor: `system:${process}`,
    occurredAt: instant(now),
  },
});
