import { Inject, Injectable } from '@nestjs/common';
import { z } from 'zod';
import { instant, type TrustedClock } from '#event-sourcing/core/clock.js';
import type { Recorded } from '#event-sourcing/core/event.js';
import { causeOf, causedBy } from '#event-sourcing/core/request-context.js';
import { streamId, streamName } from '#event-sourcing/core/stream-name.js';
import type { Statement } from '#event-sourcing/projections/statement.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { addJob, jobKind } from '#platform/jobs/job.js';
import { NotDueYet } from '#platform/jobs/not-due-yet.js';
import { isNotQueued, isNotRunning } from '#platform/jobs/rescue.js';
import { CONFIG, TRUSTED_CLOCK } from '#platform/tokens.js';
import { BATCH_EXECUTOR, type BatchExecutor, READING_EXECUTOR, type ReadingExecutor } from '../executors.js';
import { type BatchEvent, batchEvents } from '../contracts/events.js';
import { IN_TURNS, readingJobPriority } from '../contracts/reading-job.js';
import { openReadings, type BatchEndings, type BatchRecord } from '../domain/batch.decider.js';
import { BatchQuery } from '../read-models/batch.query.js';
import type { Config } from '../settings.js';

const batchJob = z.object({
  batchId: z.string(),
  workspaceId: z.string(),
  correlationId: z.string(),
  /** Id of the event that added the job. */
  causationId: z.string(),
  /** W3C trace context of that event. */
  traceparent: z.string().optional(),
});
type BatchJob = Readonly<z.infer<typeof batchJob>>;

export const END_BATCH = jobKind('readings.end-batch', batchJob);

const keyOf = (batchId: string): string => `${END_BATCH.task}:${batchId}`;

/** SQL that adds the job of a batch, when it is requested. */
export const addEndBatchJob = (
  event: Recorded<Extract<BatchEvent, { type: 'BatchRequested' }>>,
): Statement => {
  const batchId = streamId(event.stream);
  const { workspaceId, traceparent } = event.metadata;
  const payload = { batchId, workspaceId, ...causeOf(event), ...(traceparent && { traceparent }) };
  return addJob(END_BATCH, payload, { key: keyOf(batchId), priority: priorityOf(event.data.livemode) });
};

/** Among the readings of its mode: looks at any number of batches delay none of them, and no live one waits for test. */
const priorityOf = (livemode: boolean): number =>
  readingJobPriority(IN_TURNS, livemode ? {} : { mode: 'test' });

const JOB_KEY = `'${END_BATCH.task}:' || batch_id`;

/**
 * SQL: batches that have not ended and that no job looks at, the oldest first; at most $1. A killed worker keeps its job
 * locked, a restored queue may lack it, and a worker of an older version adds none. A look takes much less than 15 seconds;
 * two at once do no harm.
 */
export const UNWATCHED_BATCHES = `
  select batch_id, workspace_id, livemode, correlation_id from readings.batch
  where ended_at is null and requested_at < now() - interval '30 seconds'
    and ${isNotQueued(JOB_KEY)} and ${isNotRunning(JOB_KEY, '15 seconds')}
  order by requested_at limit $1`;

interface UnwatchedBatch {
  readonly batch_id: string;
  readonly workspace_id: string;
  readonly livemode: boolean;
  readonly correlation_id: string;
}

export const endBatchJobAgain = ({ batch_id: batchId, livemode, ...of }: UnwatchedBatch) => ({
  payload: { batchId, workspaceId: of.workspace_id, correlationId: of.correlation_id, causationId: batchId },
  key: keyOf(batchId),
  priority: priorityOf(livemode),
});

const SHORTEST_PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 3_600_000;

/** Until the next look: a tenth of the age of the batch. So its end is seen at most a tenth late, in few looks. */
const pauseBeforeLook = (ageMs: number): number =>
  Math.min(Math.max(ageMs / 10, SHORTEST_PAUSE_MS), LONGEST_PAUSE_MS);

/**
 * Looks at the readings of a batch now and then, until each has ended; then records it. The looks cost a reading nothing,
 * and they need no count that a crash, a restore or a parked event could make wrong. The stream lets only one look end
 * the batch.
 */
@Injectable()
export class EndBatchJob {
  constructor(
    private readonly query: BatchQuery,
    @Inject(BATCH_EXECUTOR) private readonly batches: BatchExecutor,
    @Inject(READING_EXECUTOR) private readonly readings: ReadingExecutor,
    @Inject(EVENT_STORE) private readonly store: Pick<EventStore, 'read'>,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
    @Inject(CONFIG) private readonly config: Pick<Config, 'READING_TIMEOUT_MS'>,
  ) {}

  /** @throws NotDueYet while a reading is open; ClockUntrusted */
  async run(job: BatchJob): Promise<void> {
    const { batchId, workspaceId } = job;
    const { state: batch } = await this.batches.load(batchId);
    if (batch === null || batch.endedAt !== null) return;
    const at = await this.clock.now();
    const ageMs = at - (await this.requestedAt(batchId));
    const endings = await this.endings(batchId, batch, ageMs);
    if (openReadings(batch, endings) > 0) throw new NotDueYet(pauseBeforeLook(ageMs));
    await this.batches.execute(
      batchId,
      { type: 'EndBatch', endings, at: instant(at) },
      { intent: 'end', by: causedBy(job, 'readings.end-batch'), workspaceId, at },
    );
  }

  /**
   * A request that broke off leaves readings that nobody asks for any more. They are given up with those that time out. Their
   * streams tell: a row may be missing for a while.
   */
  private async endings(batchId: string, batch: BatchRecord, ageMs: number): Promise<BatchEndings> {
    const ended = { ...(await this.query.endings(batchId, batch)), notAccepted: 0 };
    if (ageMs < this.config.READING_TIMEOUT_MS || openReadings(batch, ended) === 0) return ended;
    for (const readingId of await this.query.withoutRow(batchId, batch)) {
      const { state } = await this.readings.load(readingId);
      if (state.status !== 'none') continue;
      if (state.erased) ended.erased += 1;
      else ended.notAccepted += 1;
    }
    return ended;
  }

  private async requestedAt(batchId: string): Promise<number> {
    for await (const event of this.store.read(streamName(batchEvents.category, batchId), { limit: 1 }))
      return event.recordedAt ?? Date.parse(event.metadata.occurredAt);
    throw new Error('A batch without events');
  }
}
