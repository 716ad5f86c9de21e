import { sql, type Statement } from '@app/event-sourcing/projections/statement.js';

export interface JobRequest {
  readonly task: string;
  /** Ids only: jobs are not sealed, so nothing personal may enter them. */
  readonly payload: Readonly<Record<string, string | number>>;
  /** One job per key: adding it again replaces it while it waits. */
  readonly key?: string;
  /** RFC 3339; default: at once. */
  readonly runAt?: string;
  readonly maxAttempts?: number;
  /** Of due jobs those of the lowest number go first; default: 0. */
  readonly priority?: number;
}

/** SQL that adds a job, to be run in the transaction that makes it necessary. */
export const addJob = ({
  task,
  payload,
  key,
  runAt,
  maxAttempts = 25,
  priority = 0,
}: JobRequest): Statement => sql`
  select graphile_worker.add_job(identifier => ${task}, payload => ${JSON.stringify(payload)}::json,
    run_at => ${runAt ?? null}::timestamptz, max_attempts => ${maxAttempts}, job_key => ${key ?? null},
    priority => ${priority})`;

/** SQL that removes a waiting job; does nothing when it has run. */
export const removeJob = (key: string): Statement => sql`select graphile_worker.remove_job(${key})`;
