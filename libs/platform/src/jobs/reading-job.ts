import { z } from 'zod';
import { instant } from '@app/event-sourcing/core/clock.js';
import type { Recorded } from '@app/event-sourcing/core/event.js';
import { streamId } from '@app/event-sourcing/core/stream-name.js';
import type { CommandContext } from '@app/event-sourcing/handling/command-executor.js';
import { jobKind, type JobKind } from './job.js';

const readingJob = z.object({
  readingId: z.string(),
  workspaceId: z.string(),
  correlationId: z.string(),
  /** Id of the event that made the job. */
  causationId: z.string(),
  /** W3C trace context of that event: the job continues its trace. */
  traceparent: z.string().optional(),
});

/** What a job about a reading carries: ids only. */
export type ReadingJob = Readonly<z.infer<typeof readingJob>>;

export const readingJobKind = (task: string): JobKind<ReadingJob> => jobKind(task, readingJob);

/** One job of a kind waits for each reading. */
export const readingJobKey = ({ task }: JobKind<ReadingJob>, readingId: string): string =>
  `${task}:${readingId}`;

/** The payload of a job that an event of a reading makes. */
export const readingJobAfter = ({ id, stream, metadata }: Recorded): ReadingJob => ({
  readingId: streamId(stream),
  workspaceId: metadata.workspaceId,
  correlationId: metadata.correlationId,
  causationId: id,
  ...(metadata.traceparent && { traceparent: metadata.traceparent }),
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
