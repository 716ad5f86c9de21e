import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { instant } from '@app/event-sourcing/core/clock.js';
import { transaction } from '@app/platform/postgres/pool.js';
import {
  PROBE_AFTER_FAILURES,
  PROBE_PAUSE_MS,
  type AttemptResult,
} from '../../domain/delivery/attempt-result.js';
import type { EndpointSecret } from '../../domain/webhook-endpoint/webhook-endpoint.state.js';

/** A delivery that this worker owns until its lease ends. */
export interface ClaimedDelivery {
  readonly deliveryId: string;
  readonly lease: string;
  /** Of the attempt to be made, from 1. */
  readonly attempt: number;
  readonly endpointId: string;
  readonly workspaceId: string;
  readonly url: string;
  readonly secrets: readonly EndpointSecret[];
  readonly eventId: string;
  readonly type: string;
  readonly body: string;
  readonly test: boolean;
  readonly redelivery: boolean;
}

export interface QueueLimits {
  readonly perEndpoint: number;
  readonly perWorkspace: number;
  readonly leaseMs: number;
}

export interface FinishedAttempt {
  /** Milliseconds since the epoch. */
  readonly startedAt: number;
  readonly endedAt: number;
  readonly result: AttemptResult;
}

export interface EndpointFailures {
  readonly consecutiveFailures: number;
  readonly failingSince: number;
}

/** One claim at a time over all workers, so that the limits hold; the claim takes milliseconds. */
const CLAIM_LOCK = 7_360_001;

/** Endpoints with work looked at in one claim. */
const LANES = 512;

/** The next endpoints that have deliveries pending, found by skipping through the index: one probe for each. */
const NEXT_LANES = `
  with recursive lane (endpoint_id, place) as (
    (select endpoint_id, 1 from webhooks.delivery
     where status = 'pending' and endpoint_id > $1 order by endpoint_id limit 1)
    union all
    select (select next.endpoint_id from webhooks.delivery next
            where next.status = 'pending' and next.endpoint_id > lane.endpoint_id
            order by next.endpoint_id limit 1),
           place + 1
    from lane where lane.endpoint_id is not null and place < ${LANES}
  )
  select endpoint_id from lane where endpoint_id is not null`;

/**
 * Picks due deliveries of some endpoints: of each the earliest due that no earlier delivery of their reading holds up.
 * What every endpoint is owed first goes before what any is owed second, so a backlog of one costs the others nothing.
 *
 * Shaped for the planner: look-ups are lateral with a limit it knows, and the look for an earlier delivery is a scalar
 * subquery. As plain joins they were planned over the whole table.
 */
const CLAIM = `
  with lane (endpoint_id) as (
    select * from unnest($7::text[])
  ), flying as (
    select endpoint_id, workspace_id, count(*) as deliveries
    from webhooks.delivery where lease is not null and due_at > $1
    group by endpoint_id, workspace_id
  ), room as (
    select endpoint.endpoint_id, endpoint.workspace_id, endpoint.url, endpoint.secrets,
           case when coalesce(health.consecutive_failures, 0) < ${PROBE_AFTER_FAILURES} then $2 - coalesce(flying.deliveries, 0)
                when coalesce(flying.deliveries, 0) = 0 and health.probe_at <= $1 then 1
                else 0 end as places
    from lane
    cross join lateral (
      select * from webhooks.endpoint known
      where known.endpoint_id = lane.endpoint_id and known.enabled and known.deleted_at is null
      limit 1
    ) endpoint
    left join webhooks.endpoint_health health on health.endpoint_id = lane.endpoint_id
    left join flying on flying.endpoint_id = lane.endpoint_id
  ), owed as (
    select room.*, head.delivery_id, head.due_at, head.turn,
           row_number() over (partition by room.workspace_id order by head.turn, head.due_at) as workspace_turn
    from room
    cross join lateral (
      select delivery_id, due_at, row_number() over (order by due_at) as turn
      from (
        select due.delivery_id, due.due_at
        from webhooks.delivery due
        where due.endpoint_id = room.endpoint_id and due.status = 'pending' and due.due_at <= $1
          and (due.redelivery or coalesce((
            select false from webhooks.delivery earlier
            where earlier.endpoint_id = due.endpoint_id and earlier.reading_id = due.reading_id
              and earlier.sequence < due.sequence and earlier.status = 'pending' and not earlier.redelivery
            limit 1), true))
        order by due.due_at
        limit $2
      ) due
    ) head
    where head.turn <= room.places
  ), chosen as (
    select owed.* from owed
    where workspace_turn <= $3 - (select coalesce(sum(flying.deliveries), 0) from flying
                                  where flying.workspace_id = owed.workspace_id)
    order by turn, due_at
    limit $4
  ), locked as (
    select delivery_id from webhooks.delivery
    where delivery_id in (select delivery_id from chosen) and status = 'pending' and due_at <= $1
    for update skip locked
  )
  update webhooks.delivery
  set lease = $5, due_at = $1::timestamptz + $6 * interval '1 millisecond', attempts = attempts + 1
  from locked
  join chosen using (delivery_id)
  where delivery.delivery_id = locked.delivery_id
  returning delivery.delivery_id, delivery.attempts, delivery.endpoint_id, delivery.workspace_id, chosen.url,
            chosen.secrets, delivery.event_id, delivery.test,
            delivery.redelivery or delivery.replay_id is not null as redelivery,
            (select type from webhooks.public_event event where event.event_id = delivery.event_id),
            (select body from webhooks.public_event event where event.event_id = delivery.event_id)`;

interface ClaimedColumns {
  readonly delivery_id: string;
  readonly attempts: number;
  readonly endpoint_id: string;
  readonly workspace_id: string;
  readonly url: string;
  readonly secrets: readonly EndpointSecret[];
  readonly event_id: string;
  readonly type: string;
  readonly body: string;
  readonly test: boolean;
  readonly redelivery: boolean;
}

/** The deliveries table as a queue. Every change is guarded by the lease, so a worker that lost it changes nothing. */
export class DeliveryQueue {
  /** The last endpoint looked at: the next claim begins after it, so that every endpoint has its turn. */
  private after = '';

  constructor(
    private readonly pool: pg.Pool,
    private readonly limits: QueueLimits,
  ) {}

  /** Takes up to `count` due deliveries; each is this worker's until the lease ends. */
  async claim(count: number, now: number): Promise<readonly ClaimedDelivery[]> {
    const claimed: ClaimedDelivery[] = [];
    for (let fromStart = this.after === ''; claimed.length < count;) {
      const lanes = await this.nextLanes();
      if (lanes.length > 0) claimed.push(...(await this.claimFrom(lanes, count - claimed.length, now)));
      const isEnd = lanes.length < LANES;
      this.after = isEnd ? '' : lanes.at(-1)!;
      if (isEnd && fromStart) break;
      fromStart ||= isEnd;
    }
    return claimed;
  }

  private async nextLanes(): Promise<readonly string[]> {
    const { rows } = await this.pool.query<{ endpoint_id: string }>(NEXT_LANES, [this.after]);
    return rows.map(({ endpoint_id: endpointId }) => endpointId);
  }

  private async claimFrom(
    lanes: readonly string[],
    count: number,
    now: number,
  ): Promise<readonly ClaimedDelivery[]> {
    const lease = randomUUID();
    const { perEndpoint, perWorkspace, leaseMs } = this.limits;
    const rows = await transaction(this.pool, async (client) => {
      await client.query('select pg_advisory_xact_lock($1)', [CLAIM_LOCK]);
      const values = [instant(now), perEndpoint, perWorkspace, count, lease, leaseMs, lanes];
      return (await client.query<ClaimedColumns>(CLAIM, values)).rows;
    });
    return rows.map((row) => ({
      deliveryId: row.delivery_id,
      lease,
      attempt: row.attempts,
      endpointId: row.endpoint_id,
      workspaceId: row.workspace_id,
      url: row.url,
      secrets: row.secrets,
      eventId: row.event_id,
      type: row.type,
      body: row.body,
      test: row.test,
      redelivery: row.redelivery,
    }));
  }

  /** Records a successful attempt: the delivery is settled and the endpoint is well. */
  async succeed(delivery: ClaimedDelivery, attempt: FinishedAttempt): Promise<void> {
    await this.pool.query(
      `with attempt as (${INSERT_ATTEMPT}),
       recovered as (
         update webhooks.endpoint_health set consecutive_failures = 0, failing_since = null, probe_at = null
         where endpoint_id = $9 and consecutive_failures > 0)
       update webhooks.delivery set status = 'succeeded', lease = null, settled_at = $8
       where delivery_id = $1 and lease = $10 and status = 'pending'`,
      [
        ...attemptValues(delivery, attempt),
        instant(attempt.endedAt),
        delivery.endpointId,
        delivery.lease,
        delivery.endpointId,
      ],
    );
  }

  /**
   * Records a failed attempt, and when to try again.
   * @param pauseMs until the next attempt; `null`: there is none
   */
  async fail(
    delivery: ClaimedDelivery,
    attempt: FinishedAttempt,
    pauseMs: number | null,
  ): Promise<EndpointFailures> {
    const { deliveryId, endpointId, lease } = delivery;
    const at = instant(attempt.endedAt);
    const dueAt = pauseMs === null ? null : instant(attempt.endedAt + pauseMs);
    return transaction(this.pool, async (client) => {
      await client.query(
        `with attempt as (${INSERT_ATTEMPT})
         update webhooks.delivery
         set lease = null, status = case when $8::timestamptz is null then 'exhausted' else status end,
             due_at = coalesce($8, due_at), settled_at = case when $8 is null then $9::timestamptz end
         where delivery_id = $1 and lease = $10 and status = 'pending'`,
        [...attemptValues(delivery, attempt), dueAt, at, lease, endpointId],
      );
      if (dueAt !== null && !delivery.redelivery) await client.query(HOLD_UP_FOLLOWERS, [deliveryId, dueAt]);
      const { rows } = await client.query<{ consecutive_failures: number; failing_since: Date }>(
        COUNT_FAILURE,
        [endpointId, at, instant(attempt.endedAt + PROBE_PAUSE_MS)],
      );
      return {
        consecutiveFailures: rows[0]!.consecutive_failures,
        failingSince: rows[0]!.failing_since.getTime(),
      };
    });
  }

  /** Gives deliveries back that were not attempted to the end; the attempt does not count. */
  async release(deliveries: readonly ClaimedDelivery[], now: number): Promise<void> {
    await this.pool.query(
      `update webhooks.delivery set lease = null, due_at = $3, attempts = attempts - 1
       where delivery_id = any ($1) and lease = any ($2) and status = 'pending'`,
      [deliveries.map(({ deliveryId }) => deliveryId), deliveries.map(({ lease }) => lease), instant(now)],
    );
  }
}

const INSERT_ATTEMPT = `
  insert into webhooks.attempt (delivery_id, number, started_at, duration_ms, status_code, error, response_body, endpoint_id)
  values ($1, $2, $3, $4, $5, $6, $7, $11)
  on conflict do nothing`;

const attemptValues = (
  { deliveryId, attempt }: ClaimedDelivery,
  { startedAt, endedAt, result }: FinishedAttempt,
): readonly unknown[] => [
  deliveryId,
  attempt,
  instant(startedAt),
  endedAt - startedAt,
  result.statusCode,
  result.error,
  result.responseBody,
];

/** What must come after this delivery cannot come before its retry. */
const HOLD_UP_FOLLOWERS = `
  update webhooks.delivery follower set due_at = $2
  from webhooks.delivery held
  where held.delivery_id = $1 and follower.endpoint_id = held.endpoint_id and follower.reading_id = held.reading_id
    and follower.sequence > held.sequence and follower.status = 'pending' and not follower.redelivery
    and follower.due_at < $2`;

const COUNT_FAILURE = `
  insert into webhooks.endpoint_health as health (endpoint_id, consecutive_failures, failing_since)
  values ($1, 1, $2)
  on conflict (endpoint_id) do update
  set consecutive_failures = health.consecutive_failures + 1,
      failing_since = coalesce(health.failing_since, excluded.failing_since),
      probe_at = case when health.consecutive_failures + 1 >= ${PROBE_AFTER_FAILURES} then $3::timestamptz end
  returning consecutive_failures, failing_since`;
