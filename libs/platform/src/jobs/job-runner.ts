import { Logger as JobLogger, run, type Runner } from 'graphile-worker';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { SpanKind } from '@opentelemetry/api';
import { inSpan } from '@app/event-sourcing/tracing/tracing.js';

export type JobPayload = Readonly<Record<string, string | number>>;
/** Carries out one job. Throwing puts it back with exponential back-off. */
export type JobHandler = (payload: JobPayload, signal: AbortSignal) => Promise<void>;

export interface JobTask {
  readonly task: string;
  readonly handle: JobHandler;
}

/** Starts taking jobs from Postgres (SKIP LOCKED, woken by NOTIFY); `stop()` finishes those in hand. */
export const startJobs = async (
  pool: Pool,
  tasks: readonly JobTask[],
  options: { concurrency: number; log: Logger; signal: AbortSignal },
): Promise<Runner> => {
  const runner = await run({
    pgPool: pool,
    concurrency: options.concurrency,
    noHandleSignals: true,
    pollInterval: 1_000,
    gracefulShutdownAbortTimeout: 5_000,
    taskList: Object.fromEntries(
      tasks.map(({ task, handle }) => [
        task,
        (payload) => traced(task, payload as JobPayload, () => handle(payload as JobPayload, options.signal)),
      ]),
    ),
    logger: new JobLogger(() => (level: string, message) => {
      if (level === 'error') options.log.error({ component: 'jobs' }, message);
      else if (level === 'warning') options.log.warn({ component: 'jobs' }, message);
    }),
  });
  const stop = runner.stop.bind(runner);
  // `stop` alone resolves while workers still record their last jobs; ending the pool then waits for those queries.
  runner.stop = async (reason) => {
    await stop(reason);
    await runner.promise;
  };
  return runner;
};

/** One attempt at a job, as part of the trace of the event that made it. */
const traced = (task: string, payload: JobPayload, work: () => Promise<void>): Promise<void> => {
  const { traceparent, readingId } = payload;
  const options = {
    kind: SpanKind.CONSUMER,
    parent: traceparent === undefined ? null : String(traceparent),
    ...(readingId && { attributes: { 'reading.id': readingId } }),
  };
  return inSpan(`job ${task}`, options, work);
};
