import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import { scrapedGauges } from '../telemetry/scraped-gauges.js';

/**
 * Due jobs that no worker has taken. Excludes jobs with a later time, such as timers. The `run_at` of a turn may be before
 * the job was added.
 */
const DUE = `
  select task_identifier as task, count(*)::integer as due,
         extract(epoch from now() - min(greatest(run_at, created_at)))::float8 as oldest_seconds
  from graphile_worker.jobs
  where run_at <= now() and locked_at is null and attempts < max_attempts
  group by task_identifier`;

/** Metrics of the job queue. Every worker reports the same values: read one, or take the maximum. */
export const measureJobs = (pool: Pool, tasks: readonly string[], registry: Registry): void =>
  scrapedGauges(
    registry,
    'jobs',
    {
      jobs_due: { help: 'Due jobs that no worker has taken', labelNames: ['task'] },
      jobs_oldest_due_seconds: { help: 'How long the oldest due job has waited', labelNames: ['task'] },
    },
    async () => {
      const { rows } = await pool.query<{ task: string; due: number; oldest_seconds: number }>(DUE);
      const of = (field: 'due' | 'oldest_seconds') =>
        tasks.map((task) => ({
          labels: { task },
          value: Math.max(0, rows.find((row) => row.task === task)?.[field] ?? 0),
        }));
      return { jobs_due: of('due'), jobs_oldest_due_seconds: of('oldest_seconds') };
    },
  );
