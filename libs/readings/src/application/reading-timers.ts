import { Inject, Injectable } from '@nestjs/common';
import type { TrustedClock } from '#event-sourcing/core/clock.js';
import { streamName } from '#event-sourcing/core/stream-name.js';
import { EVENT_STORE, type EventStore } from '#event-sourcing/store/event-store.js';
import { causedBy } from '#event-sourcing/core/request-context.js';
import { NotDueYet } from '#platform/jobs/not-due-yet.js';
import { isNotQueued, isNotRunning } from '#platform/jobs/rescue.js';
import { CONFIG, TRUSTED_CLOCK } from '#platform/tokens.js';
import { readingEvents } from '../contracts/events.js';
import type { ReadingJob } from '../contracts/reading-job.js';
import type { ReadingCommand } from '../domain/reading/reading.commands.js';
import { TIME_OUT_READING } from '../processes/generation.process.js';
import { READING_EXECUTOR, type ReadingExecutor } from '../reading.executor.js';
import type { Config } from '../settings.js';

/** A time-out that is later than this was lost with its job queue (seconds). */
const LOST_AFTER_SECONDS = 30;

/**
 * SQL: unfinished readings whose time is over and that no job will soon time out, the oldest first; at most $1. The queue
 * may have lost the jobs: its tables were dropped, or restored from a backup. A killed worker keeps its job locked for
 * hours, and one that failed often waits as long. A time-out takes much less than 15 seconds; two at once do no harm.
 */
export const lostTimeOuts = (timeoutMs: number): string => `
  select reading_id, workspace_id, correlation_id from readings.reading
  where due_at is not null and created_at < now() - make_interval(secs => ${timeoutMs / 1_000 + LOST_AFTER_SECONDS})
    and ${isNotQueued(`'${TIME_OUT_READING.task}:' || reading_id`)}
    and ${isNotRunning(`'${TIME_OUT_READING.task}:' || reading_id`, '15 seconds')}
  order by created_at limit $1`;

/**
 * What a reading's durable timers do when they fire. A reading that has ended does not change.
 *
 * The queue fires by PostgreSQL's clock, which may have been wrong. So the elapsed time is measured again: from the time
 * at which the store recorded the request to this process's trusted time.
 */
@Injectable()
export class ReadingTimers {
  constructor(
    @Inject(READING_EXECUTOR) private readonly executor: ReadingExecutor,
    @Inject(TRUSTED_CLOCK) private readonly clock: TrustedClock,
    @Inject(EVENT_STORE) private readonly store: Pick<EventStore, 'read'>,
    @Inject(CONFIG) private readonly config: Pick<Config, 'READING_DELAYED_AFTER_MS' | 'READING_TIMEOUT_MS'>,
  ) {}

  /** @throws NotDueYet, ClockUntrusted */
  delay(job: ReadingJob): Promise<void> {
    return this.goesOff(job, this.config.READING_DELAYED_AFTER_MS, 'delay', { type: 'DelayReading' });
  }

  /** @throws NotDueYet, ClockUntrusted */
  timeOut(job: ReadingJob): Promise<void> {
    return this.goesOff(job, this.config.READING_TIMEOUT_MS, 'time-out', { type: 'TimeOutReading' });
  }

  private async goesOff(
    job: ReadingJob,
    afterMs: number,
    intent: string,
    command: ReadingCommand,
  ): Promise<void> {
    const { readingId, workspaceId } = job;
    const at = await this.clock.now();
    const acceptedAt = await requestedAt(this.store, readingId);
    const remainingMs = acceptedAt === null ? 0 : acceptedAt + afterMs - at;
    if (remainingMs > 0) throw new NotDueYet(remainingMs);
    const by = causedBy(job, 'readings.timer');
    await this.executor.execute(readingId, command, { intent, by, workspaceId, at });
  }
}

/** When the store recorded the request; `null` when the events of the reading were truncated. */
export const requestedAt = async (
  store: Pick<EventStore, 'read'>,
  readingId: string,
): Promise<number | null> => {
  for await (const event of store.read(streamName(readingEvents.category, readingId))) {
    if (event.type === 'ReadingRequested') return event.recordedAt ?? Date.parse(event.metadata.occurredAt);
  }
  return null;
};
