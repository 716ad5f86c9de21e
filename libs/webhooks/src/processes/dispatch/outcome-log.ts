import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { instant } from '#event-sourcing/core/clock.js';
import {
  PROBE_AFTER_FAILURES,
  PROBE_PAUSE_MS,
  isOfReceiver,
  type AttemptResult,
} from '../../domain/attempt.js';
import { appendSettled, appendSucceeded } from '../../read-models/delivery-sql.js';
import { countAttempts } from '../../read-models/hourly-stats.js';

/**
 * SQL: the delivery waits for this attempt, and the worker still has the lease of its workspace. `status = 'pending'` would
 * be the same as `settled_at is null`, but the planner would read all of a partial index with that condition.
 */
const IS_OPEN = `
  delivery.delivery_id = done.delivery_id and delivery.settled_at is null and delivery.attempts = done.number - 1
  and exists (select from webhooks.workspace_lease held
              where held.workspace_id = delivery.workspace_id and held.lease = done.lease)`;

/** SQL: the attempts to record: $1 to $9. */
const DONE = `
  done as (
    select * from unnest($1::uuid[], $2::integer[], $3::timestamptz[], $4::integer[], $5::integer[], $6::bytea[],
                         $7::uuid[], $8::timestamptz[], $9::text[])
      as done (delivery_id, number, started_at, duration_ms, status_code, answer, lease, ended_at, error)
  )`;

/** SQL: the attempts that settled a delivery. */
const made = (ended: string): string => `
  select done.delivery_id, done.number, done.started_at, done.duration_ms, done.status_code, done.error, done.answer
  from done join ${ended} using (delivery_id)`;

/** SQL: removes deliveries from the queue, with their last attempt counted. @param where of `delivery` and `done` */
const take = (status: string, where: string): string => `
    delete from webhooks.delivery using done
    where ${IS_OPEN} and ${where}
    returning delivery.delivery_id, delivery.endpoint_id, delivery.event_id, '${status}' as status,
              done.number as attempts, delivery.test, delivery.redelivery, delivery.replay_id, delivery.created_at,
              done.ended_at as settled_at`;

/** SQL: successes. The other parts apply to the deliveries that the first one took from the queue. */
const SUCCEED = `
  with ${DONE}, ended as (${take('succeeded', 'true')}, done.started_at, done.duration_ms, done.status_code,
              done.error
  ), ${appendSucceeded('ended')}, summed as (${countAttempts('ended')}
  ), recovered as (
    update webhooks.endpoint_health set consecutive_failures = 0, failing_since = null, probe_at = null
    where consecutive_failures > 0 and endpoint_id in (select endpoint_id from ended)
    returning endpoint_id
  )
  select ended.delivery_id, recovered.endpoint_id is not null as has_recovered
  from ended left join recovered using (endpoint_id)`;

/**
 * SQL: failures. $10: when the next attempt is due, null after the last. $11: the URL it was sent to; null when the failure does not count.
 * $12: pause between probes (ms).
 *
 * Later deliveries of the reading cannot be sent before the next attempt, so they are due when it is. A failure of an
 * earlier URL says nothing about the present one.
 */
const FAIL = `
  with ${DONE}, next as (
    select * from unnest($1::uuid[], $10::timestamptz[], $11::text[]) as next (delivery_id, due_at, url)
  ), ended as (${take('exhausted', 'exists (select from next where next.delivery_id = done.delivery_id and next.due_at is null)')}
  ), retried as (
    update webhooks.delivery set attempts = done.number, due_at = next.due_at
    from done join next using (delivery_id)
    where ${IS_OPEN}
      and next.due_at is not null
    returning delivery.delivery_id, delivery.endpoint_id, delivery.reading_id, delivery.sequence, delivery.redelivery,
              delivery.due_at
  ), kept as (
    insert into webhooks.attempt (delivery_id, number, started_at, duration_ms, status_code, error, answer, endpoint_id)
    select done.delivery_id, number, started_at, duration_ms, status_code, error, answer, endpoint_id
    from done join retried using (delivery_id)
    on conflict do nothing
  ), ${appendSettled('ended', made('ended'))}, followers as (
    update webhooks.delivery follower set due_at = held.due_at
    from (select endpoint_id, reading_id, min(sequence) as sequence, max(due_at) as due_at
          from retried where not redelivery group by endpoint_id, reading_id) held
    where follower.endpoint_id = held.endpoint_id and follower.reading_id = held.reading_id
      and follower.sequence > held.sequence and follower.status = 'pending' and not follower.redelivery
      and follower.due_at < held.due_at
      and follower.delivery_id not in (select delivery_id from done)
  ), failed as (
    select delivery_id, endpoint_id from retried union all select delivery_id, endpoint_id from ended
  ), summed as (${countAttempts('done join failed using (delivery_id)')}
  ), counted as (
    insert into webhooks.endpoint_health as health (endpoint_id, consecutive_failures, failing_since, probe_at)
    select endpoint_id, count(*), min(ended_at),
           case when count(*) >= ${PROBE_AFTER_FAILURES}
                then max(ended_at) + $12::integer * interval '1 millisecond' end
    from failed join done using (delivery_id) join next using (delivery_id)
    join webhooks.endpoint using (endpoint_id)
    where endpoint.url = next.url
    group by endpoint_id order by endpoint_id
    on conflict (endpoint_id) do update
    set consecutive_failures = health.consecutive_failures + excluded.consecutive_failures,
        failing_since = coalesce(health.failing_since, excluded.failing_since),
        probe_at = case when health.consecutive_failures + excluded.consecutive_failures >= ${PROBE_AFTER_FAILURES}
                        then (select max(ended_at) from failed join done using (delivery_id)
                              where failed.endpoint_id = health.endpoint_id)
                             + $12::integer * interval '1 millisecond' end
    returning endpoint_id, consecutive_failures, failing_since
  )
  select failed.delivery_id, counted.consecutive_failures, counted.failing_since
  from failed join next using (delivery_id) left join webhooks.endpoint using (endpoint_id)
  left join counted on counted.endpoint_id = failed.endpoint_id and endpoint.url = next.url`;

/** SQL: a delivery that was skipped while its attempt was under way stays so, with the attempt. */
const ADD_TO_SKIPPED = `
  with ${DONE}
  update webhooks.settled_delivery skipped
  set attempts = done.number, started_at = done.started_at, duration_ms = done.duration_ms,
      status_code = done.status_code, error = done.error, answer = done.answer,
      earlier = case when skipped.started_at is null then skipped.earlier
                     else coalesce(skipped.earlier, '[]') || jsonb_build_object(
                       'number', skipped.attempts, 'startedAt', skipped.started_at, 'durationMs', skipped.duration_ms,
                       'statusCode', skipped.status_code, 'error', skipped.error) end
  from done
  where skipped.delivery_id = done.delivery_id and skipped.status = 'skipped' and skipped.attempts = done.number - 1`;

/** SQL: makes a delivery due later, $4, and with it the later ones of its reading, which cannot be sent before. */
const RESCHEDULE = `
  with done as (
    select $1::uuid as delivery_id, $2::integer as number, $3::uuid as lease
  ), held as (
    update webhooks.delivery set due_at = $4 from done where ${IS_OPEN}
    returning endpoint_id, reading_id, sequence, redelivery, due_at
  )
  update webhooks.delivery follower set due_at = held.due_at from held
  where follower.endpoint_id = held.endpoint_id and follower.reading_id = held.reading_id
    and follower.sequence > held.sequence and follower.status = 'pending' and not follower.redelivery
    and not held.redelivery and follower.due_at < held.due_at`;

/** An attempt that has ended. Times in milliseconds since the epoch. */
export interface FinishedAttempt {
  readonly deliveryId: string;
  readonly number: number;
  readonly endpointId: string;
  /** Where it was sent: the endpoint may have another URL by now. */
  readonly url: string;
  readonly redelivery: boolean;
  /** Of the workspace, under which it was sent. */
  readonly lease: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly result: AttemptResult;
  /** The receiver's answer to a failed attempt, sealed; `null`: none is stored. */
  readonly answer: Uint8Array | null;
}

interface EndpointFailures {
  readonly consecutiveFailures: number;
  readonly failingSince: number;
}

interface QueuedOutcome {
  readonly attempt: FinishedAttempt;
  /** Pause before the next attempt (ms); `null`: there is none, because this one succeeded or was the last. */
  readonly backOffMs: number | null;
  readonly resolve: (recorded: Recorded) => void;
  readonly reject: (error: unknown) => void;
}

/** What recording an attempt has changed for its endpoint. */
interface Recorded {
  readonly hasRecovered: boolean;
  /** `null`: the attempt does not count as a failure of the endpoint. */
  readonly failures: EndpointFailures | null;
}
const NOTHING_CHANGED: Recorded = { hasRecovered: false, failures: null };

/** Most outcomes recorded in one statement. */
const BATCH = 128;
/** While batches are larger, a statement waits a little for more: half of its cost does not depend on their number. */
const BUSY_BATCH = 8;
const GATHER_MS = 5;

/** Records outcomes of attempts. Those that arrive while a statement runs share the next one: more load, fewer transactions each. */
export class OutcomeLog {
  private queued: QueuedOutcome[] = [];
  private isWriting = false;

  constructor(private readonly pool: pg.Pool) {}

  /** @returns whether the endpoint had been failing */
  async succeeded(attempt: FinishedAttempt): Promise<boolean> {
    return (await this.add(attempt, null)).hasRecovered;
  }

  /** @returns its failures in a row; `null`: not counted: not the receiver's, another URL, or the lease was lost (nothing changed) */
  async failed(attempt: FinishedAttempt, backOffMs: number | null): Promise<EndpointFailures | null> {
    return (await this.add(attempt, backOffMs)).failures;
  }

  /** A delivery that could not be prepared, so no attempt was made, is due later. @param until milliseconds since the epoch */
  async reschedule(
    { deliveryId, number, lease }: Pick<FinishedAttempt, 'deliveryId' | 'number' | 'lease'>,
    until: number,
  ): Promise<void> {
    await this.pool.query(RESCHEDULE, [deliveryId, number, lease, instant(until)]);
  }

  private add(attempt: FinishedAttempt, backOffMs: number | null): Promise<Recorded> {
    return new Promise((resolve, reject) => {
      this.queued.push({ attempt, backOffMs, resolve, reject });
      if (!this.isWriting) void this.write();
    });
  }

  private async write(): Promise<void> {
    this.isWriting = true;
    for (let last = 0; this.queued.length > 0;) {
      if (last > BUSY_BATCH && this.queued.length < BATCH) await delay(GATHER_MS);
      const batch = this.queued.splice(0, lengthInOrder(this.queued));
      last = batch.length;
      const [succeeded, failed] = [batch.filter(isSuccess), batch.filter((one) => !isSuccess(one))];
      await this.settle(succeeded, () => this.recordSuccesses(succeeded));
      await this.settle(failed, () => this.recordFailures(failed));
    }
    this.isWriting = false;
  }

  /** Answers each of the batch. Those that were in the queue no more may have been skipped. */
  private async settle(
    batch: readonly QueuedOutcome[],
    record: () => Promise<ReadonlyMap<string, Recorded>>,
  ): Promise<void> {
    if (batch.length === 0) return;
    try {
      const recorded = await record();
      const missed = batch.filter(({ attempt }) => !recorded.has(attempt.deliveryId));
      if (missed.length > 0) await this.pool.query(ADD_TO_SKIPPED, columnsOf(missed));
      for (const { attempt, resolve } of batch) resolve(recorded.get(attempt.deliveryId) ?? NOTHING_CHANGED);
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }

  private async recordSuccesses(batch: readonly QueuedOutcome[]): Promise<ReadonlyMap<string, Recorded>> {
    const { rows } = await this.pool.query<{ delivery_id: string; has_recovered: boolean }>({
      name: 'webhooks.succeed',
      text: SUCCEED,
      values: columnsOf(batch),
    });
    return new Map(rows.map((row) => [row.delivery_id, { hasRecovered: row.has_recovered, failures: null }]));
  }

  private async recordFailures(batch: readonly QueuedOutcome[]): Promise<ReadonlyMap<string, Recorded>> {
    const { rows } = await this.pool.query<{
      delivery_id: string;
      consecutive_failures: number | null;
      failing_since: Date | null;
    }>({
      name: 'webhooks.fail',
      text: FAIL,
      values: [
        ...columnsOf(batch),
        batch.map(({ attempt, backOffMs }) =>
          backOffMs === null ? null : instant(attempt.endedAt + backOffMs),
        ),
        batch.map(({ attempt: { url, result } }) => (isOfReceiver(result.error!) ? url : null)),
        PROBE_PAUSE_MS,
      ],
    });
    return new Map(
      rows.map(({ delivery_id: id, consecutive_failures: consecutiveFailures, failing_since: since }) => [
        id,
        consecutiveFailures === null
          ? NOTHING_CHANGED
          : { hasRecovered: false, failures: { consecutiveFailures, failingSince: since!.getTime() } },
      ]),
    );
  }
}

const isSuccess = ({ attempt }: QueuedOutcome): boolean => attempt.result.error === null;

/** How many, from the oldest, can be recorded with successes first: up to a success that ends failures of its endpoint. */
const lengthInOrder = (queued: readonly QueuedOutcome[]): number => {
  const failing = new Set<string>();
  for (const [index, one] of queued.slice(0, BATCH).entries()) {
    if (!isSuccess(one)) failing.add(one.attempt.endpointId);
    else if (failing.has(one.attempt.endpointId)) return index;
  }
  return BATCH;
};

/** The parameters of `DONE`. */
const columnsOf = (batch: readonly QueuedOutcome[]): unknown[] => {
  const rows = batch.map(({ attempt }) => {
    const { deliveryId, number, startedAt, endedAt, result, answer, lease } = attempt;
    const [began, ended] = [instant(startedAt), instant(endedAt)];
    const { statusCode, error } = result;
    return [deliveryId, number, began, endedAt - startedAt, statusCode, answer, lease, ended, error];
  });
  return rows[0]!.map((_, column) => rows.map((row) => row[column]));
};
