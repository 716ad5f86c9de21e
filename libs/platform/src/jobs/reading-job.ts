import { z } from 'zod';
import type { Recorded } from '@app/event-sourcing/core/event.js';
import { streamId } from '@app/event-sourcing/core/stream-name.js';
import { causeOf } from '@app/event-sourcing/core/request-context.js';
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
export const readingJobAfter = (event: Recorded): ReadingJob => ({
  readingId: streamId(event.stream),
  workspaceId: event.metadata.workspaceId,
  ...causeOf(event),
  ...(event.metadata.traceparent && { traceparent: event.metadata.traceparent }),
});
