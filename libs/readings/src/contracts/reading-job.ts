import { z } from 'zod';
import type { Recorded } from '@app/event-sourcing/core/event.js';
import { causeOf } from '@app/event-sourcing/core/request-context.js';
import { streamId } from '@app/event-sourcing/core/stream-name.js';

const readingJob = z.object({
  readingId: z.string(),
  workspaceId: z.string(),
  correlationId: z.string(),
  /** Id of the event that added the job. */
  causationId: z.string(),
  /** W3C trace context of that event. The job continues its trace. */
  traceparent: z.string().optional(),
});

/** Payload of a job about a reading: ids only. */
export type ReadingJob = Readonly<z.infer<typeof readingJob>>;

/** A kind of job about a reading, for the platform's queue. */
export interface ReadingJobKind {
  readonly task: string;
  readonly payload: z.ZodType<ReadingJob>;
  readonly attributes: (job: ReadingJob) => Readonly<Record<string, string>>;
}

export const readingJobKind = (task: string): ReadingJobKind => ({
  task,
  payload: readingJob,
  attributes: ({ readingId }) => ({ 'reading.id': readingId }),
});

/** At most one job of a kind waits for each reading. */
export const readingJobKey = ({ task }: ReadingJobKind, readingId: string): string => `${task}:${readingId}`;

/** The payload of a job that an event of a reading adds. */
export const readingJobAfter = (event: Recorded): ReadingJob => ({
  readingId: streamId(event.stream),
  workspaceId: event.metadata.workspaceId,
  ...causeOf(event),
  ...(event.metadata.traceparent && { traceparent: event.metadata.traceparent }),
});

/** A reading with an overdue step, as found by a query. */
export interface OverdueReading {
  readonly reading_id: string;
  readonly workspace_id: string;
  readonly correlation_id: string;
}

/** The job that repeats the overdue step of a reading. */
export const readingJobAgain =
  (kind: ReadingJobKind) =>
  ({ reading_id: readingId, workspace_id: workspaceId, correlation_id: correlationId }: OverdueReading) => ({
    payload: { readingId, workspaceId, correlationId, causationId: readingId },
    key: readingJobKey(kind, readingId),
  });
