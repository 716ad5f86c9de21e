import type pg from 'pg';
import { instant } from '#event-sourcing/core/clock.js';
import { PROBE_PAUSE_MS, isOfReceiver, type AttemptResult } from '../../domain/attempt.js';
import { appendSettled } from '../../read-models/delivery-sql.js';
import { countAttempts } from '../../read-models/hourly-stats.js';
import type { DueDelivery } from './workspace-leases.js';

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

/** SQL: later deliveries of a reading cannot be sent before the one in `held`, so they are due when it is. */
const delayFollowers = (held: string): string => `
  update webhooks.delivery follower set due_at = held.due_at from ${held} held
  where follower.endpoint_id = held.endpoint_id and follower.reading_id = held.reading_id
    and follower.sequence > held.sequence and follower.status = 'pending' and not follower.redelivery
    and not held.redelivery and follower.due_at < held.due_at
    and follower.delivery_id not in (select delivery_id from done)`;

/**
 * SQL: $10: when the next attempt is due, null after the last. $11: the URL it was sent to; null when it does not count as a
 * failure: one of an earlier URL says nothing about the present one.
 */
const RECORD = `
  with ${DONE}, next as (
    select * from unnest($1::uuid[], $10::timestamptz[], $11::text[]) as next (delivery_id, due_at, url)
  ), ended as (
    delete from webhooks.delivery using done join next using (delivery_id)
    where ${IS_OPEN} and next.due_at is null
    returning delivery.delivery_id, delivery.endpoint_id, delivery.event_id,
              case when done.error is null then 'succeeded' else 'exhausted' end as status, done.number as attempts,
              delivery.test, delivery.redelivery, delivery.replay_id, delivery.created_at, done.ended_at as settled_at
  ), retried as (
    update webhooks.delivery set attempts = done.number, due_at = next.due_at
    from done join next using (delivery_id)
    where ${IS_OPEN} and next.due_at is not null
    returning delivery.delivery_id, delivery.endpoint_id, delivery.reading_id, delivery.sequence, delivery.redelivery,
              delivery.due_at
  ), kept as (
    insert into webhooks.attempt (delivery_id, number, started_at, duration_ms, status_code, error, answer, endpoint_id)
    select done.delivery_id, number, started_at, duration_ms, status_code, error, answer, endpoint_id
    from done join retried using (delivery_id)
    on conflict do nothing
  ), ${appendSettled(
    'ended',
    `select done.delivery_id, done.number, done.started_at, done.duration_ms, done.status_code, done.error, done.answer
     from done join ended using (delivery_id)`,
  )}, followers as (${delayFollowers('retried')}
  ), recorded as (
    select done.*, changed.endpoint_id
    from (select delivery_id, endpoint_id from retried union all select delivery_id, endpoint_id from ended) changed
    join done using (delivery_id)
  ), summed as (${countAttempts('recorded')}
  ), recovered as (
    update webhooks.endpoint_health set consecutive_failures = 0, failing_since = null, probe_at = null
    where consecutive_failures > 0 and endpoint_id in (select endpoint_id from recorded where error is null)
  ), counted as (
    insert into webhooks.endpoint_health as health (endpoint_id, consecutive_failures, failing_since, probe_at)
    select endpoint_id, count(*), min(ended_at), max(ended_at) + ${PROBE_PAUSE_MS} * interval '1 millisecond'
    from recorded join next using (delivery_id) join webhooks.endpoint using (endpoint_id)
    where recorded.error is not null and endpoint.url = next.url
    group by endpoint_id order by endpoint_id
    on conflict (endpoint_id) do update
    set consecutive_failures = health.consecutive_failures + excluded.consecutive_failures,
        failing_since = coalesce(health.failing_since, excluded.failing_since), probe_at = excluded.probe_at
    returning endpoint_id, consecutive_failures, failing_since
  )
  select recorded.delivery_id, counted.consecutive_failures, counted.failing_since
  from recorded join next using (delivery_id) left join webhooks.endpoint using (endpoint_id)
  left join counted on counted.endpoint_id = recorded.endpoint_id and endpoint.url = next.url`;

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

/** SQL: makes a delivery due later, $4. */
const RESCHEDULE = `
  with done as (
    select $1::uuid as delivery_id, $2::integer as number, $3::uuid as lease
  ), held as (
    update webhooks.delivery set due_at = $4 from done where ${IS_OPEN}
    returning endpoint_id, reading_id, sequence, redelivery, due_at
  )
  ${delayFollowers('held')}`;

/** An attempt that has ended. `url`: where it was sent; the endpoint may have another by now. Times in milliseconds since the epoch. */
export interface FinishedAttempt extends Pick<DueDelivery, 'deliveryId' | 'endpointId' | 'url'> {
  readonly number: number;
  /** Of the workspace, under which it was sent. */
  readonly lease: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly result: AttemptResult;
  /** The receiver's answer to a failed attempt, sealed; `null`: none is stored. */
  readonly answer: Uint8Array | null;
  /** When the next attempt is due; `null`: there is none, because this one succeeded or was the last. */
  readonly nextAt: number | null;
}

interface EndpointFailures {
  readonly consecutiveFailures: number;
  readonly failingSince: number;
}

interface Queued {
  readonly attempt: FinishedAttempt;
  readonly resolve: (failures: EndpointFailures | null) => void;
  readonly reject: (error: unknown) => void;
}

/** Most outcomes recorded in one statement. */
const BATCH = 128;

/** Records outcomes of attempts. Those that arrive while a statement runs share the next one: more load, fewer transactions each. */
export class OutcomeLog {
  private queued: Queued[] = [];
  private isWriting = false;

  constructor(private readonly pool: pg.Pool) {}

  /** @returns the failures of its endpoint in a row; `null`: it is none that counts, or the lease was lost and nothing changed */
  record(attempt: FinishedAttempt): Promise<EndpointFailures | null> {
    return new Promise((resolve, reject) => {
      this.queued.push({ attempt, resolve, reject });
      if (!this.isWriting) void this.write();
    });
  }

  /** A delivery that could not be prepared, so no attempt was made, is due later. @param until milliseconds since the epoch */
  async reschedule(
    { deliveryId, number, lease }: Pick<FinishedAttempt, 'deliveryId' | 'number' | 'lease'>,
    until: number,
  ): Promise<void> {
    await this.pool.query(RESCHEDULE, [deliveryId, number, lease, instant(until)]);
  }

  private async write(): Promise<void> {
    this.isWriting = true;
    while (this.queued.length > 0) {
      const batch = this.queued.splice(0, lengthInOrder(this.queued));
      await this.recordAll(batch.map(({ attempt }) => attempt)).then(
        (failures) =>
          batch.forEach(({ attempt, resolve }) => resolve(failures.get(attempt.deliveryId) ?? null)),
        (error: unknown) => batch.forEach(({ reject }) => reject(error)),
      );
    }
    this.isWriting = false;
  }

  private async recordAll(
    batch: readonly FinishedAttempt[],
  ): Promise<ReadonlyMap<string, EndpointFailures | null>> {
    const { rows } = await this.pool.query<{
      delivery_id: string;
      consecutive_failures: number | null;
      failing_since: Date | null;
    }>({
      name: 'webhooks.record',
      text: RECORD,
      values: [
        ...columnsOf(batch),
        batch.map(({ nextAt }) => (nextAt === null ? null : instant(nextAt))),
        batch.map(({ url, result: { error } }) => (error !== null && isOfReceiver(error) ? url : null)),
      ],
    });
    const recorded = new Map(
      rows.map(({ delivery_id: id, consecutive_failures: consecutiveFailures, failing_since: since }) => [
        id,
        consecutiveFailures === null ? null : { consecutiveFailures, failingSince: since!.getTime() },
      ]),
    );
    const missed = batch.filter(({ deliveryId }) => !recorded.has(deliveryId));
    if (missed.length > 0) await this.pool.query(ADD_TO_SKIPPED, columnsOf(missed));
    return recorded;
  }
}

/** How many, from the oldest, are all successes or all failures of each of their endpoints. */
const lengthInOrder = (queued: readonly Queued[]): number => {
  const kinds = new Map<string, boolean>();
  const other = queued.slice(0, BATCH).findIndex(({ attempt: { endpointId, result } }) => {
    const isSuccess = result.error === null;
    const isOther = (kinds.get(endpointId) ?? isSuccess) !== isSuccess;
    kinds.set(endpointId, isSuccess);
    return isOther;
  });
  return other === -1 ? BATCH : other;
};

/** The parameters of `DONE`. */
const columnsOf = (batch: readonly FinishedAttempt[]): unknown[] => [
  batch.map(({ deliveryId }) => deliveryId),
  batch.map(({ number }) => number),
  batch.map(({ startedAt }) => instant(startedAt)),
  batch.map(({ startedAt, endedAt }) => endedAt - startedAt),
  batch.map(({ result }) => result.statusCode),
  batch.map(({ answer }) => answer),
  batch.map(({ lease }) => lease),
  batch.map(({ endedAt }) => instant(endedAt)),
  batch.map(({ result }) => result.error),
];
