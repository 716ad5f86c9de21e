import type { Job, JobHelpers, WorkerEvents } from 'graphile-worker';
import type { Logger } from 'pino';
import { isStoreAway, isDependencyAway } from '#event-sourcing/store/errors.js';
import { Recurring } from '#event-sourcing/timing/recurring.js';
import { SpanKind } from '@opentelemetry/api';
import { EventEmitter } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { z } from 'zod';
import { ClockUntrusted } from '#event-sourcing/core/clock.js';
import { sql, type Statement } from '#event-sourcing/projections/statement.js';
import { inSpan } from '#event-sourcing/tracing/tracing.js';
import type { TrustedTime } from '../time/trusted-time.js';
import { NotDueYet } from './not-due-yet.js';

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

/** Ids and numbers only: jobs are not sealed, so they must not contain personal data. */
export type JobPayload = Readonly<Record<string, string | number | undefined>>;

/** A kind of job: its name in the queue, and the payload that producers and handlers share. */
export interface JobKind<Payload extends JobPayload> {
  readonly task: string;
  readonly payload: z.ZodType<Payload>;
  /** Attributes of an attempt's span. */
  readonly attributes?: (payload: Payload) => Readonly<Record<string, string>>;
}

export interface JobOptions {
  /** One job per key: adding it again replaces the waiting one. */
  readonly key?: string;
  /** RFC 3339; default: at once. */
  readonly runAt?: string;
  readonly maxAttempts?: number;
  /** Due jobs with the lowest number go first; default: 0. */
  readonly priority?: number;
  /** The jobs of a priority take turns by workspace. Without `turn` or with `runAt`, a job goes when its time has come. */
  readonly turn?: Turn;
}

/** Whose turn a job takes. A workspace's jobs of bulk requests wait for its other ones. */
export interface Turn {
  readonly workspaceId: string;
  readonly isBulk: boolean;
  /** A kind of job whose turns have half the length of another's has two of them for each of the other's; default: 1. */
  readonly length?: number;
}

export const jobKind = <Payload extends JobPayload>(
  task: string,
  payload: z.ZodType<Payload>,
): JobKind<Payload> => ({ task, payload });

/** SQL that adds a job; run it in the transaction that requires the job. */
export const addJob = <Payload extends JobPayload>(
  { task }: JobKind<Payload>,
  payload: Payload,
  { key, runAt, maxAttempts = 25, priority = 0, turn }: JobOptions = {},
): Statement => ({
  ...addJobs([
    [
      task,
      JSON.stringify(payload),
      runAt ?? null,
      maxAttempts,
      key ?? null,
      priority,
      turn?.workspaceId ?? null,
      turn?.isBulk ?? null,
      turn?.length ?? 1,
    ],
  ]),
  together: addTogether,
});

/** Each value of a single `addJob` is a column of one. */
const addTogether = (each: readonly (readonly unknown[])[]): Statement =>
  addJobs(each.map((columns) => columns.flat()));

/**
 * One call for all: PostgreSQL plans and runs the statements of the queue once, and wakes the workers once.
 *
 * Turns are start-time fair queueing (Goyal, Vin and Cheng, 1996). The queue hands out the due job with the earliest
 * `run_at`; so `run_at` is the virtual time of a turn, and each turn of a workspace begins at the end of its last one of
 * that kind: the length of a turn is in microseconds. A workspace whose turns are over begins at the turn that is being
 * served, which is now when no job waits. All kinds of a priority share this time.
 * @param each the values of each `addJob`
 */
function addJobs(each: readonly (readonly unknown[])[]): Statement {
  const last = lastOfEachKey(each);
  const column = (index: number): readonly unknown[] => last.map((values) => values[index]);
  return sql`
  with job as (
    select *, row_number() over (partition by task, priority, workspace_id, is_bulk order by nr) - 1 as turns_before,
      length * interval '1 microsecond' as turn
    from unnest(${column(0)}::text[], ${column(1)}::json[], ${column(2)}::timestamptz[], ${column(3)}::smallint[],
                ${column(4)}::text[], ${column(5)}::smallint[], ${column(6)}::text[], ${column(7)}::boolean[],
                ${column(8)}::smallint[])
      with ordinality
      as job (task, payload, run_at, max_attempts, key, priority, workspace_id, is_bulk, length, nr)
  ), first as (
    select task, priority, workspace_id, is_bulk, count(*) as turns, turn,
      greatest(
        coalesce(
          (select min(waiting.run_at) from graphile_worker._private_jobs as waiting
           where waiting.is_available and waiting.priority = job.priority and waiting.run_at <= now()),
          now()),
        (select max(last_at) + job.turn from platform.job_turn as earlier
         where earlier.task = job.task and earlier.priority = job.priority and earlier.workspace_id = job.workspace_id
           and (job.is_bulk or not earlier.is_bulk))) as at
    from job where workspace_id is not null and run_at is null
    group by task, priority, workspace_id, is_bulk, turn
  ), taken as (
    insert into platform.job_turn (task, priority, workspace_id, is_bulk, last_at)
    select task, priority, workspace_id, is_bulk, at + (turns - 1) * turn from first
    order by task, priority, workspace_id, is_bulk
    on conflict (task, priority, workspace_id, is_bulk) do update set last_at = excluded.last_at
  )
  select from graphile_worker.add_jobs(array(
    select (task, payload, null, coalesce(run_at, at + turns_before * turn), max_attempts, key,
            priority, null)::graphile_worker.job_spec
    from job left join first using (task, priority, workspace_id, is_bulk, turn) order by nr))`;
}

/** Place of the key among the values of `addJob`. */
const KEY = 4;

/** Of jobs with one key, the last replaces the others. A statement cannot write the same row twice. */
const lastOfEachKey = (each: readonly (readonly unknown[])[]): readonly (readonly unknown[])[] => {
  const lastByKey = new Map(each.map((values) => [values[KEY], values]));
  return each.filter((values) => values[KEY] === null || lastByKey.get(values[KEY]) === values);
};

/** SQL that removes a waiting job; does nothing when it has run. */
export const removeJob = (key: string): Statement => ({
  ...sql`select graphile_worker.remove_job(${key})`,
  together: removeJobs,
});

const removeJobs = (each: readonly (readonly unknown[])[]): Statement =>
  sql`select graphile_worker.remove_job(key) from unnest(${each.map(([key]) => key)}::text[]) as job (key)`;

/** The untyped handler of one kind of job: `handleJobs` makes it from a kind and a typed handler. */
export interface JobTask {
  readonly task: string;
  /** Attributes of an attempt's span. */
  readonly attributes: (payload: unknown) => Readonly<Record<string, string>>;
  readonly handle: (payload: unknown, signal: AbortSignal) => Promise<void>;
}

/**
 * Handles the jobs of one kind. An error returns the job to the queue with exponential back-off. So does an invalid
 * payload, which an older or newer version of the program wrote.
 */
export const handleJobs = <Payload extends JobPayload>(
  { task, payload, attributes }: JobKind<Payload>,
  handle: (payload: Payload, signal: AbortSignal) => Promise<void>,
): JobTask => ({
  task,
  attributes(stored) {
    const parsed = payload.safeParse(stored);
    return parsed.success ? (attributes?.(parsed.data) ?? {}) : {};
  },
  handle(stored, signal) {
    const parsed = payload.safeParse(stored);
    if (parsed.success) return handle(parsed.data, signal);
    const members = parsed.error.issues.map(({ path, code }) => `${path.join('.')}: ${code}`).join('; ');
    return Promise.reject(new TypeError(`Not a payload of ${task}: ${members}`));
  },
});

/** Pause before a runner whose first look for jobs failed is replaced (ms). */
const RESTART_PAUSE_MS = 500;

/**
 * Takes jobs from PostgreSQL (SKIP LOCKED, woken by NOTIFY) until the signal aborts; then waits for running ones. A job
 * that meets clocks that differ, or whose time has not come, returns to the queue without losing an attempt.
 * @param concurrency jobs at a time
 * @returns a `WorkLoop`
 */
export const runJobs = (
  pool: Pool,
  tasks: readonly JobTask[],
  concurrency: number,
  time: Pick<TrustedTime, 'isTrusted'>,
  logger: Logger,
) => ({
  name: 'jobs',
  role: 'jobs' as const,
  async run(signal: AbortSignal): Promise<void> {
    // Most programs only add jobs.
    const { Logger: JobLogger, run } = await import('graphile-worker');
    const taskList = Object.fromEntries(
      tasks.map(({ task, attributes, handle }) => [
        task,
        (payload: unknown, helpers: JobHelpers) =>
          postponed(pool, helpers, async () => {
            if (!(await time.isTrusted())) throw new ClockUntrusted('the clocks differ');
            await traced(task, payload, attributes(payload), () => handle(payload, signal));
          }),
      ]),
    );
    const log = new JobLog(logger);
    while (!signal.aborted) {
      const events: WorkerEvents = new EventEmitter();
      const answer = firstAnswer(events, signal);
      const runner = await run({
        pgPool: pool,
        concurrency,
        noHandleSignals: true,
        pollInterval: 1_000,
        gracefulShutdownAbortTimeout: 5_000,
        taskList,
        logger: new JobLogger(() => (level: string, message, details) => log.say(level, message, details)),
        events,
      }).catch((error: unknown) => {
        if (signal.aborted) return null;
        if (!isDependencyAway(error)) throw error;
        log.waits('the job queue is not available yet; starting again', error);
        return null;
      });
      if (runner) {
        const isWorking = await answer;
        if (isWorking && !signal.aborted)
          await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
        // `stop` alone resolves while workers still record their last jobs; ending the pool then waits for those queries.
        const stopped = runner.stop().then(() => runner.promise);
        if (isWorking) return stopped;
        await stopped.catch(() => undefined);
        // A runner keeps the error of its first look for good (0.17): it would never take a job, and log nothing.
        log.waits('the first look for jobs failed; starting again', undefined);
      }
      await delay(RESTART_PAUSE_MS, undefined, { signal }).catch(() => undefined);
    }
  },
});

/** Whether the first look for a job got an answer; also true when the work is to end anyway. */
const firstAnswer = (events: WorkerEvents, signal: AbortSignal): Promise<boolean> =>
  new Promise((resolve) => {
    events.once('worker:getJob:error', () => resolve(false));
    events.once('worker:getJob:empty', () => resolve(true));
    events.once('job:start', () => resolve(true));
    signal.addEventListener('abort', () => resolve(true), { once: true });
    if (signal.aborted) resolve(true);
  });

/** One attempt at a job, in the trace of the event that created it. */
const traced = (
  task: string,
  payload: unknown,
  attributes: Readonly<Record<string, string>>,
  work: () => Promise<void>,
): Promise<void> => {
  const { traceparent } = payload as Readonly<Record<string, unknown>>;
  const options = {
    kind: SpanKind.CONSUMER,
    parent: typeof traceparent === 'string' ? traceparent : null,
    attributes,
  };
  return inSpan(`job ${task}`, options, work);
};

/** How long a job waits when the clocks differ (ms). By then, this process takes no jobs. */
const CLOCK_PAUSE_MS = 5_000;

/** Adds the job again, for a later time by PostgreSQL's own clock, instead of counting an attempt. */
const postponed = async (pool: Pool, { job }: JobHelpers, work: () => Promise<void>): Promise<void> => {
  try {
    await work();
  } catch (error) {
    const isEarly = error instanceof NotDueYet;
    if (!isEarly && !(error instanceof ClockUntrusted)) throw error;
    await pool.query(
      `select graphile_worker.add_job(identifier => $1, payload => $2::json, job_key => $3, max_attempts => $4,
         priority => $5, run_at => clock_timestamp() + make_interval(secs => $6))`,
      [
        job.task_identifier,
        JSON.stringify(job.payload),
        job.key,
        job.max_attempts,
        job.priority,
        (isEarly ? error.remainingMs : CLOCK_PAUSE_MS) / 1_000,
      ],
    );
  }
};

export interface StuckJobs {
  /** Jobs without attempts left. */
  readonly dead: number;
  /** Jobs that failed several times and will be retried. */
  readonly failing: number;
  /** How long the oldest job that no worker has taken has been due (seconds). */
  readonly oldest: number;
}

const SOME_FAILURES = 3;

/**
 * Jobs that make no progress. One without a key has a successor, because all our jobs have keys: its worker was killed, or
 * it failed after another was added. That one counts.
 */
export const stuckJobs = async (pool: Pick<Pool, 'query'>): Promise<StuckJobs> => {
  const { rows } = await pool.query<StuckJobs>(
    `select count(*) filter (where attempts >= max_attempts)::int as dead,
            count(*) filter (where attempts >= $1 and attempts < max_attempts)::int as failing,
            greatest(0, extract(epoch from now() - min(greatest(run_at, created_at))
              filter (where attempts < max_attempts and locked_at is null)))::int as oldest
     from graphile_worker.jobs where key is not null`,
    [SOME_FAILURES],
  );
  return rows[0]!;
};

/**
 * Deletes jobs that another has replaced while they were locked, or that were removed then: graphile-worker keeps what its
 * worker neither completes nor fails. No attempt at a job takes as long as an hour.
 * @returns how many
 */
export const forgetReplacedJobs = async (pool: Pick<Pool, 'query'>): Promise<number> => {
  const { rowCount } = await pool.query(
    `delete from graphile_worker._private_jobs
     where key is null and attempts >= max_attempts
       and (locked_at is null or locked_at < now() - interval '1 hour')`,
  );
  return rowCount ?? 0;
};
