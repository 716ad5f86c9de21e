import type { Job } from 'graphile-worker';
import type { Logger } from 'pino';
import { isStoreAway } from '#event-sourcing/store/errors.js';
import { Recurring } from '#event-sourcing/timing/recurring.js';

/** What graphile-worker passes with its messages; `job` and `failure` when an attempt failed. */
type Details = Partial<Record<'job' | 'error' | 'failure', unknown>> | undefined;

/**
 * Logs what the job queue says. Its library logs every attempt of every job; here, a failure that many attempts share is
 * logged once as it is, and then at growing intervals: one that the event store's absence causes, only if that lasts. A job without attempts left is always logged.
 */
export class JobLog {
  private readonly recurring = new Recurring();

  constructor(private readonly log: Pick<Logger, 'warn' | 'error'>) {}

  /** @param level of graphile-worker */
  say(level: string, message: string, details: Details): void {
    if (level !== 'error' && level !== 'warning') return;
    if (details?.failure === true) return this.failed(details.job as Job, details.error);
    const times = this.recurring.happened(message.replaceAll(/\d+/g, ''));
    if (times === 0) return;
    this.log[level === 'error' ? 'error' : 'warn']({ component: 'jobs', times }, message);
  }

  /** The queue cannot be used yet; the program tries again. */
  waits(message: string, reason: unknown): void {
    const said = reason instanceof Error ? reason.message : 'unknown';
    const times = this.recurring.happened(`${message} ${said}`);
    if (times > 0) this.log.warn({ component: 'jobs', reason: said, times }, message);
  }

  private failed(job: Job, error: unknown): void {
    const { task_identifier: task, attempts, max_attempts: maxAttempts, id: jobId } = job;
    const isOver = attempts >= maxAttempts;
    const reason = error instanceof Error ? `${error.name}: ${error.message}` : 'unknown';
    const times = this.recurring.happened(`${task} ${reason.replaceAll(/[\da-f]{4,}|\d+/g, '')}`);
    if (!isOver && (times === 0 || (times === 1 && isStoreAway(error)))) return;
    this.log.error(
      {
        component: 'jobs',
        task,
        jobId,
        attempt: attempts,
        maxAttempts,
        ...idsOf(job.payload),
        times,
        err: error,
      },
      isOver ? 'a job failed and has no attempts left' : 'a job failed; it is tried again',
    );
  }
}

/** Ids that the lines of a job have. */
const idsOf = (payload: unknown): { requestId?: string; readingId?: string } => {
  const { correlationId, readingId } = (payload ?? {}) as Readonly<Record<string, unknown>>;
  return {
    ...(typeof correlationId === 'string' && { requestId: correlationId }),
    ...(typeof readingId === 'string' && { readingId }),
  };
};
