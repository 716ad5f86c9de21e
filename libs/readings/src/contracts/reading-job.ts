import { z } from 'zod';
import type { Recorded } from '#event-sourcing/core/event.js';
import { causeOf } from '#event-sourcing/core/request-context.js';
import { streamId } from '#event-sourcing/core/stream-name.js';

const readingJob = z.object({
  readingId: z.string(),
  workspaceId: z.string(),
  /** Absent for a live reading, and where the step is the same in both modes. */
  mode: z.literal('test').optional(),
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
  /** Among jobs of one mode, the lowest goes first. */
  readonly priority: number;
  /** Of the turns that its jobs take, relative to each other. */
  readonly turnLength: number;
  readonly attributes: (job: ReadingJob) => Readonly<Record<string, string>>;
}

/** Of jobs that take turns: they go after those whose time has come. */
export const IN_TURNS = { priority: 1 } as const;

/**
 * A kind of job, which goes when its time has come, or whose jobs take turns: after those, with turns of this length. A step
 * that ends a reading has a shorter turn than one that begins another. So with many readings, the first documents do not
 * wait for the calculation of later ones, and typesetting has work early.
 */
export const readingJobKind = (task: string, turnLength?: 1 | 2): ReadingJobKind => ({
  task,
  payload: readingJob,
  priority: turnLength === undefined ? 0 : IN_TURNS.priority,
  turnLength: turnLength ?? 1,
  attributes: ({ readingId }) => ({ 'reading.id': readingId }),
});

/** At most one job of a kind waits for each reading. */
export const readingJobKey = ({ task }: ReadingJobKind, readingId: string): string => `${task}:${readingId}`;

/** Jobs of test readings wait for those of live ones, so that no number of them delays a live reading. */
const TEST_PRIORITY = 4;

/** The priority of a job about a reading in the queue: the lowest goes first. */
export const readingJobPriority = (
  { priority }: Pick<ReadingJobKind, 'priority'>,
  { mode }: Pick<ReadingJob, 'mode'>,
): number => priority + (mode === 'test' ? TEST_PRIORITY : 0);

/** The payload of a job that an event of a reading adds. */
export const readingJobAfter = (event: Recorded): ReadingJob => ({
  readingId: streamId(event.stream),
  workspaceId: event.metadata.workspaceId,
  ...(isOfTest(event.data) && { mode: 'test' as const }),
  ...causeOf(event),
  ...(event.metadata.traceparent && { traceparent: event.metadata.traceparent }),
});

/** The turn of a job that an event of a reading adds. A reading of a batch was caused by the batch, not by the request. */
export const readingTurn = ({ turnLength: length }: ReadingJobKind, { type, metadata }: Recorded) => ({
  workspaceId: metadata.workspaceId,
  isBulk: type === 'ReadingRequested' && metadata.causationId !== metadata.correlationId,
  length,
});

const isOfTest = (data: unknown): boolean =>
  typeof data === 'object' && data !== null && 'livemode' in data && data.livemode === false;

/** A reading with an overdue step, as found by a query. */
export interface OverdueReading {
  readonly reading_id: string;
  readonly workspace_id: string;
  readonly livemode?: boolean;
  readonly correlation_id: string;
}

/** The job that repeats the overdue step of a reading. */
export const readingJobAgain =
  (kind: ReadingJobKind) =>
  ({ reading_id: readingId, workspace_id: workspaceId, livemode, correlation_id }: OverdueReading) => {
    const payload = {
      readingId,
      workspaceId,
      ...(livemode === false && { mode: 'test' as const }),
      correlationId: correlation_id,
      causationId: readingId,
    };
    return {
      payload,
      key: readingJobKey(kind, readingId),
      priority: readingJobPriority(kind, payload),
      turn: { workspaceId, isBulk: false, length: kind.turnLength },
    };
  };
