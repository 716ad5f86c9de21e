import type pg from 'pg';
import { instant } from '@app/event-sourcing/core/clock.js';
import { PROBE_AFTER_FAILURES } from '../../domain/delivery/attempt-result.js';
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

/** What one round of claiming found. */
export interface ClaimRound {
  readonly claimed: readonly ClaimedDelivery[];
  /** Endpoints that have more due and no room for it now. */
  readonly full: readonly string[];
  /** Other endpoints may have work too. */
  readonly isPartial: boolean;
}

/** Endpoints looked at in one round. */
const LANES = 128;

/** How long an endpoint without room is left alone, unless one of its attempts ends before. */
export const FULL_PAUSE_MS = 200;

/** One claim at a time over all workers, so that the limits hold; the claim takes milliseconds. */
const CLAIM_LOCK = 7_360_001;

/** Endpoints that have something to send, the longest waiting first: every endpoint has its turn. */
const READY_LANES = `
  select endpoint_id, due_from::text from webhooks.lane where ready_at <= $1 order by ready_at limit ${LANES} for update skip locked`;

/** The due deliveries of an endpoint that no earlier delivery of their reading holds up, the earliest first. */
const due = (replayed: 'is null' | 'is not null', priority: number): string => `
  (select due.delivery_id, due.due_at, ${priority} as priority
   from webhooks.delivery due
   where due.endpoint_id = room.endpoint_id and due.status = 'pending' and due.replay_id ${replayed}
     and due.due_at between room.due_from and $1
     and (due.redelivery or coalesce((
       select false from webhooks.delivery earlier
       where earlier.endpoint_id = due.endpoint_id and earlier.reading_id = due.reading_id
         and earlier.sequence < due.sequence and earlier.status = 'pending' and not earlier.redelivery
       limit 1), true))
   order by due.due_at
   limit $2)`;

/**
 * Picks due deliveries of some endpoints. What every endpoint is owed first goes before what any is owed second, so a
 * backlog of one costs the others nothing; and what is new before what is replayed.
 *
 * Shaped for the planner: look-ups are lateral with a limit it knows, and the look for an earlier delivery is a scalar
 * subquery. As plain joins they were planned over the whole table.
 */
const CLAIM = `
  with lane (endpoint_id, due_from) as (
    select * from unnest($7::text[], $8::timestamptz[])
  ), flying as (
    select endpoint_id, workspace_id, count(*) as deliveries
    from webhooks.delivery where lease is not null and due_at > $1
    group by endpoint_id, workspace_id
  ), room as (
    select endpoint.endpoint_id, endpoint.workspace_id, endpoint.url, endpoint.secrets, lane.due_from,
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
      select delivery_id, due_at, row_number() over (order by priority, due_at) as turn
      from (${due('is null', 1)} union all ${due('is not null', 2)}) due
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

/**
 * When the endpoints looked at are to be looked at again: when their earliest delivery is due (or its lease ends), not
 * before their probe, and at $3 when they have more due than could be claimed ($3 null: as before). The floor of a busy
 * endpoint is raised once a second.
 */
const NEXT_LOOK = `
  update webhooks.lane
  set ready_at = case when next.at <= $1 then coalesce($3, ready_at) else next.at end, due_from = next.due_from
  from (
    select looked_at.endpoint_id,
           case when endpoint.endpoint_id is null then 'infinity'
                when health.consecutive_failures >= ${PROBE_AFTER_FAILURES} then greatest(earliest.at, health.probe_at)
                else earliest.at end as at,
           earliest.at as due_from
    from unnest($2::text[], $4::timestamptz[]) looked_at (endpoint_id, due_from)
    left join webhooks.endpoint on endpoint.endpoint_id = looked_at.endpoint_id and endpoint.enabled
      and endpoint.deleted_at is null
    left join webhooks.endpoint_health health on health.endpoint_id = looked_at.endpoint_id
    cross join lateral (
      select coalesce(least(
        (select min(due_at) from webhooks.delivery
         where endpoint_id = looked_at.endpoint_id and status = 'pending' and replay_id is null
           and due_at >= looked_at.due_from),
        (select min(due_at) from webhooks.delivery
         where endpoint_id = looked_at.endpoint_id and status = 'pending' and replay_id is not null
           and due_at >= looked_at.due_from)),
        'infinity') as at
    ) earliest
  ) next
  where lane.endpoint_id = next.endpoint_id
    and (next.at > $1 or $3::timestamptz is not null or next.due_from > lane.due_from + interval '1 second')
  returning lane.endpoint_id, next.at <= $1 as has_more`;

/**
 * Claims up to `count` due deliveries, within a transaction of the caller.
 * @param now milliseconds since the epoch
 */
export const claimRound = async (
  client: pg.PoolClient,
  { perEndpoint, perWorkspace, leaseMs }: QueueLimits,
  lease: string,
  count: number,
  now: number,
): Promise<ClaimRound> => {
  const at = instant(now);
  await client.query('select pg_advisory_xact_lock($1)', [CLAIM_LOCK]);
  // Named statements are planned once per connection: planning these costs more than running them.
  const ready = await client.query<{ endpoint_id: string; due_from: string }>({
    name: 'webhooks.ready',
    text: READY_LANES,
    values: [at],
  });
  const lanes = ready.rows.map(({ endpoint_id: endpointId }) => endpointId);
  const dueFrom = ready.rows.map(({ due_from: from }) => from);
  if (lanes.length === 0) return { claimed: [], full: [], isPartial: false };
  const values = [at, perEndpoint, perWorkspace, count, lease, leaseMs, lanes, dueFrom];
  const { rows } = await client.query<ClaimedColumns>({ name: 'webhooks.claim', text: CLAIM, values });
  // With places of this worker left over, whoever has more due has no room for it.
  const isPartial = lanes.length === LANES;
  const isFull = rows.length < count;
  // Without other endpoints waiting behind them, those with more due need not step back.
  const next = isFull ? instant(now + FULL_PAUSE_MS) : isPartial ? at : null;
  const looked = await client.query<{ endpoint_id: string; has_more: boolean }>({
    name: 'webhooks.next',
    text: NEXT_LOOK,
    values: [at, lanes, next, dueFrom],
  });
  const more = looked.rows.filter(({ has_more: hasMore }) => hasMore);
  return {
    claimed: rows.map((row) => claimedFromColumns(row, lease)),
    full: isFull ? more.map(({ endpoint_id: endpointId }) => endpointId) : [],
    isPartial,
  };
};

const claimedFromColumns = (row: ClaimedColumns, lease: string): ClaimedDelivery => ({
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
});
