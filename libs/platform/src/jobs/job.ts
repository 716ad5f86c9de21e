import { type z } from 'zod';
import { sql, type Statement } from '@app/event-sourcing/projections/statement.js';
import type { JobTask } from './job-runner.js';

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
}

export const jobKind = <Payload extends JobPayload>(
  task: string,
  payload: z.ZodType<Payload>,
): JobKind<Payload> => ({ task, payload });

/** SQL that adds a job; run it in the transaction that requires the job. */
export const addJob = <Payload extends JobPayload>(
  { task }: JobKind<Payload>,
  payload: Payload,
  { key, runAt, maxAttempts = 25, priority = 0 }: JobOptions = {},
): Statement => sql`
  select graphile_worker.add_job(identifier => ${task}, payload => ${JSON.stringify(payload)}::json,
    run_at => ${runAt ?? null}::timestamptz, max_attempts => ${maxAttempts}, job_key => ${key ?? null},
    priority => ${priority})`;

/** SQL that removes a waiting job; does nothing when it has run. */
export const removeJob = (key: string): Statement => sql`select graphile_worker.remove_job(${key})`;

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
