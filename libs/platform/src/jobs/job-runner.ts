import { Logger as JobLogger, run, type Runner } from 'graphile-worker';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { SpanKind } from '@opentelemetry/api';
import { inSpan } from '@app/event-sourcing/tracing/tracing.js';

/** The untyped handler of one kind of job: `handleJobs` makes it from a kind and a typed handler. */
export interface JobTask {
  readonly task: string;
  /** Attributes of an attempt's span. */
  readonly attributes: (payload: unknown) => Readonly<Record<string, string>>;
  readonly handle: (payload: unknown, signal: AbortSignal) => Promise<void>;
}

/** Starts taking jobs from PostgreSQL (SKIP LOCKED, woken by NOTIFY); `stop()` waits for running jobs. */
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
      tasks.map(({ task, attributes, handle }) => [
        task,
        (payload) => traced(task, payload, attributes(payload), () => handle(payload, options.signal)),
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
