import type pg from 'pg';
import { instant } from '@app/event-sourcing/core/clock.js';
import { transaction } from '@app/platform/postgres/pool.js';
import {
  ASKED_REFUSAL,
  PROBE_PAUSE_MS,
  PROBE_AFTER_FAILURES,
  type AttemptResult,
} from '../../domain/delivery/attempt-result.js';
import { transitionAfterFailure, type DeliveryTransition } from '../../domain/delivery/delivery-state.js';
import { countAttempts } from '../../read-models/stats/count-attempts.js';
import { statusAfter } from '../../read-models/delivery/delivery-sql.js';

/** An attempt that has ended. Times in milliseconds since the epoch. */
export interface FinishedAttempt {
  readonly deliveryId: string;
  /** From 1. */
  readonly number: number;
  readonly endpointId: string;
  /** Where it was sent: the endpoint may have another URL by now. */
  readonly url: string;
  readonly redelivery: boolean;
  /** Of the claim under which it was sent. */
  readonly lease: string;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly result: AttemptResult;
}

export interface EndpointFailures {
  readonly consecutiveFailures: number;
  readonly failingSince: number;
}

interface QueuedSuccess {
  readonly attempt: FinishedAttempt;
  readonly resolve: (hasRecovered: boolean) => void;
  readonly reject: (error: unknown) => void;
}

/** Most successes recorded in one statement. */
const BATCH = 128;

/** SQL: the worker still holds the lease, of the workspace queue or of the detached delivery. */
const isLeasedBy = (lease: string): string => `
  (delivery.lease = ${lease} or exists (
     select from webhooks.lane where lane.workspace_id = delivery.workspace_id and lane.lease = ${lease}))`;

/** The other parts apply to the deliveries that the first one updated. A skipped delivery stays so, with its attempt. */
const SUCCEED = `
  with done as (
    select * from unnest($1::uuid[], $2::integer[], $3::timestamptz[], $4::integer[], $5::integer[], $6::bytea[],
                         $7::uuid[], $8::timestamptz[])
      as done (delivery_id, number, started_at, duration_ms, status_code, response_body, lease, ended_at)
  ), settled as (
    update webhooks.delivery
    set status = ${statusAfter('succeed')},
        attempts = done.number, lease = null, settled_at = coalesce(delivery.settled_at, done.ended_at)
    from done
    where delivery.delivery_id = done.delivery_id and ${isLeasedBy('done.lease')}
    returning delivery.delivery_id, delivery.endpoint_id, done.number, done.started_at, done.duration_ms,
              done.status_code, done.response_body, null::text as error
  ), attempted as (
    insert into webhooks.attempt (delivery_id, number, started_at, duration_ms, status_code, response_body, endpoint_id)
    select delivery_id, number, started_at, duration_ms, status_code, response_body, endpoint_id from settled
    on conflict do nothing
  ), counted as (
    ${countAttempts('settled')}
  )
  update webhooks.endpoint_health set consecutive_failures = 0, failing_since = null, probe_at = null
  where consecutive_failures > 0 and endpoint_id in (select endpoint_id from settled)
  returning endpoint_id`;

const failAs = (transition: DeliveryTransition): string => `
  with failed as (
    update webhooks.delivery
    set lease = null, attempts = $2,
        status = ${statusAfter(transition)},
        due_at = coalesce($8::timestamptz, due_at),
        settled_at = coalesce(settled_at, case when $8 is null then $9::timestamptz end)
    where delivery_id = $1 and ${isLeasedBy('$10')}
    returning endpoint_id, status, $3::timestamptz as started_at, $4::integer as duration_ms, $6::text as error
  ), attempted as (
    insert into webhooks.attempt (delivery_id, number, started_at, duration_ms, status_code, error, response_body, endpoint_id)
    select $1, $2, $3, $4, $5, $6, $7, endpoint_id from failed
    on conflict do nothing
  ), counted as (
    ${countAttempts('failed')}
  )
  select status from failed`;
const FAIL = { retry: failAs('retry'), exhaust: failAs('exhaust') };

/** Later deliveries of the reading cannot be sent before this one's retry. */
const DELAY_FOLLOWERS = `
  update webhooks.delivery follower set due_at = $2
  from webhooks.delivery held
  where held.delivery_id = $1 and follower.endpoint_id = held.endpoint_id and follower.reading_id = held.reading_id
    and follower.sequence > held.sequence and follower.status = 'pending' and not follower.redelivery
    and follower.due_at < $2`;

/** A failure of an earlier URL says nothing about the present one. */
const COUNT_FAILURE = `
  insert into webhooks.endpoint_health as health (endpoint_id, consecutive_failures, failing_since)
  select endpoint_id, 1, $2::timestamptz from webhooks.endpoint where endpoint_id = $1 and url = $4
  on conflict (endpoint_id) do update
  set consecutive_failures = health.consecutive_failures + 1,
      failing_since = coalesce(health.failing_since, excluded.failing_since),
      probe_at = case when health.consecutive_failures + 1 >= ${PROBE_AFTER_FAILURES} then $3::timestamptz end
  returning consecutive_failures, failing_since`;

/**
 * Records the outcomes of attempts. Successes that arrive while a statement runs go into the next one together: the
 * higher the load, the fewer transactions for each.
 */
export class OutcomeLog {
  private queued: QueuedSuccess[] = [];
  private isWriting = false;

  constructor(private readonly pool: pg.Pool) {}

  /** @returns whether the endpoint had been failing */
  succeeded(attempt: FinishedAttempt): Promise<boolean> {
    return new Promise((resolve, reject) => {
      this.queued.push({ attempt, resolve, reject });
      if (!this.isWriting) void this.write();
    });
  }

  /**
   * @param backOffMs pause before the next attempt; `null`: there is none
   * @returns the failures of the endpoint in a row; `null` when this one does not count, because a test reading asked for
   * it, because the endpoint has another URL now, or because the lease was lost (then nothing has changed)
   */
  async failed(attempt: FinishedAttempt, backOffMs: number | null): Promise<EndpointFailures | null> {
    const { deliveryId, number, endpointId, lease, startedAt, endedAt, result } = attempt;
    const at = instant(endedAt);
    const dueAt = backOffMs === null ? null : instant(endedAt + backOffMs);
    return transaction(this.pool, async (client) => {
      const { statusCode, error, responseBody } = result;
      const took = endedAt - startedAt;
      const columns = [deliveryId, number, instant(startedAt), took, statusCode, error, responseBody];
      const failed = await client.query<{ status: string }>(FAIL[transitionAfterFailure(backOffMs)], [
        ...columns,
        dueAt,
        at,
        lease,
      ]);
      const [delivery] = failed.rows;
      if (!delivery) return null;
      if (delivery.status === 'pending' && dueAt !== null && !attempt.redelivery)
        await client.query(DELAY_FOLLOWERS, [deliveryId, dueAt]);
      if (error === ASKED_REFUSAL.error) return null;
      const { rows } = await client.query<{ consecutive_failures: number; failing_since: Date }>(
        COUNT_FAILURE,
        [endpointId, at, instant(endedAt + PROBE_PAUSE_MS), attempt.url],
      );
      const [health] = rows;
      if (!health) return null;
      return {
        consecutiveFailures: health.consecutive_failures,
        failingSince: health.failing_since.getTime(),
      };
    });
  }

  private async write(): Promise<void> {
    this.isWriting = true;
    while (this.queued.length > 0) {
      const batch = this.queued.splice(0, BATCH);
      try {
        const recovered = await this.record(batch.map(({ attempt }) => attempt));
        for (const { attempt, resolve } of batch) resolve(recovered.has(attempt.endpointId));
      } catch (error) {
        for (const { reject } of batch) reject(error);
      }
    }
    this.isWriting = false;
  }

  private async record(batch: readonly FinishedAttempt[]): Promise<ReadonlySet<string>> {
    const column = <T>(of: (one: FinishedAttempt) => T): readonly T[] => batch.map(of);
    const { rows } = await this.pool.query<{ endpoint_id: string }>({
      name: 'webhooks.succeed',
      text: SUCCEED,
      values: [
        column(({ deliveryId }) => deliveryId),
        column(({ number }) => number),
        column(({ startedAt }) => instant(startedAt)),
        column(({ startedAt, endedAt }) => endedAt - startedAt),
        column(({ result }) => result.statusCode),
        column(({ result }) => result.responseBody),
        column(({ lease }) => lease),
        column(({ endedAt }) => instant(endedAt)),
      ],
    });
    return new Set(rows.map(({ endpoint_id: endpointId }) => endpointId));
  }
}
