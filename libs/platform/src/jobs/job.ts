import { type z } from 'zod';
import { sql, type Statement } from '@app/event-sourcing/projections/statement.js';
import type { JobTask } from './job-runner.js';

/** Ids and numbers: jobs are not sealed, so nothing personal may enter them. */
export type JobPayload = Readonly<Record<string, string | number | undefined>>;

/** A kind of job: its name in the queue, and the payload that whoever adds it and whoever handles it agree on. */
export interface JobKind<Payload extends JobPayload> {
  readonly task: string;
  readonly payload: z.ZodType<Payload>;
  /** Of the span of an attempt. */
  readonly attributes?: (payload: Payload) => Readonly<Record<string, string>>;
}

export interface JobOptions {
  /** One job per key: adding it again replaces it while it waits. */
  readonly key?: string;
  /** RFC 3339; default: at once. */
  readonly runAt?: string;
  readonly maxAttempts?: number;
  /** Of due jobs those of the lowest number go first; default: 0. */
  readonly priority?: number;
}

export const jobKind = <Payload extends JobPayload>(
  task: string,
  payload: z.ZodType<Payload>,
): JobKind<Payload> => ({ task, payload });

/** SQL that adds a job, to be run in the transaction that makes it necessary. */
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
 * Carries out the jobs of one kind. Throwing puts a job back with exponential back-off; so does a payload that is not of
 * its kind, which an older or a newer version of the program wrote.
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
