import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { TrustedTime } from '../time/trusted-time.js';
import type { WorkLoop } from '../work/work-registry.js';
import { startJobs, type JobTask } from './job.js';

/** Takes jobs until the signal aborts; then waits for running ones. */
export const runJobs = (
  pool: Pool,
  tasks: readonly JobTask[],
  concurrency: number,
  time: Pick<TrustedTime, 'isTrusted'>,
  log: Logger,
): WorkLoop => ({
  name: 'jobs',
  role: 'jobs',
  async run(signal) {
    const runner = await startJobs(pool, tasks, { concurrency, time, log, signal }).catch(
      (error: unknown) => {
        if (!signal.aborted) throw error;
        return null;
      },
    );
    if (!runner) return;
    if (!signal.aborted)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    await runner.stop();
  },
});
