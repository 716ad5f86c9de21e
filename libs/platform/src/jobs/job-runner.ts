import { Logger as JobLogger, run, type Runner } from 'graphile-worker';
import type { Pool } from 'pg';
import type { Logger } from 'pino';

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
      tasks.map(({ task, handle }) => [task, (payload) => handle(payload as JobPayload, options.signal)]),
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
