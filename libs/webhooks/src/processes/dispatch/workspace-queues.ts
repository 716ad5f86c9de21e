import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { instant } from '#event-sourcing/core/clock.js';
import { transaction } from '#platform/postgres/pool.js';
import { earliestFreeAt } from '../../read-models/delivery/delivery-sql.js';
import type { EndpointSecret } from '../../domain/webhook-endpoint/webhook-endpoint.state.js';
import { savePaces, type Pace } from './paces.js';

/** A workspace queue claimed by this worker: until the lease expires, no other sends for the workspace. */
export interface WorkspaceClaim {
  readonly workspaceId: string;
  readonly lease: string;
  readonly endpoints: readonly EndpointSnapshot[];
}

/** An endpoint that may be sent to, as it was when its workspace was claimed. */
export interface EndpointSnapshot {
  readonly endpointId: string;
  readonly url: string;
  readonly secrets: readonly EndpointSecret[];
  readonly consecutiveFailures: number;
  /** Milliseconds since the epoch: from then on an endpoint that keeps failing is sent one delivery. */
  readonly probeAt: number | null;
  /** Deliveries still in flight from earlier claims, of any worker. */
  readonly detached: number;
  /** Names its sealed custom headers; `null`: it has none. */
  readonly headersRef: string | null;
  /** Deliveries sent in a second, at most; `null`: no limit of its own. */
  readonly maxPerSecond: number | null;
  /** Milliseconds since the epoch: with such a limit, nothing is sent before. */
  readonly pacedUntil: number | null;
}

/** A delivery that is in flight when its workspace is released. */
export interface DetachedDelivery {
  readonly deliveryId: string;
  /** Attempts recorded when it was sent. */
  readonly attempts: number;
}

/** An endpoint to which nothing is sent for some time after the release. */
export interface Rest {
  readonly endpointId: string;
  /** Unless one of its deliveries is in flight: then until that ends. */
  readonly restMs: number;
}

/** A claim that can be released. */
export interface FinishedClaim {
  readonly workspaceId: string;
  readonly lease: string;
  /** Deliveries in flight: the row of each gets the lease. */
  readonly toDetach: readonly DetachedDelivery[];
  /** Endpoints with a limit of their own, and when they may be sent the next delivery. */
  readonly paces: readonly Pace[];
  readonly rests: readonly Rest[];
  /** How soon the queue is ready again if something is due: at once, or after a pause because it could not be sent. */
  readonly pauseMs: number;
}

interface EndpointColumns {
  readonly endpoint_id: string;
  readonly workspace_id: string;
  readonly url: string;
  readonly secrets: readonly EndpointSecret[];
  readonly consecutive_failures: number;
  readonly probe_at: Date | null;
  readonly detached: number;
  readonly headers_ref: string | null;
  readonly max_per_second: number | null;
  readonly paced_until: Date | null;
}

/** The queue that has been ready longest goes first, so that no workspace starves. */
const CLAIM = `
  with ready as (
    select workspace_id from webhooks.lane
    where ready_at <= $1 and leased_until <= $1
    order by ready_at limit $2 for update skip locked
  )
  update webhooks.lane set lease = $3, leased_until = $1::timestamptz + $4 * interval '1 millisecond'
  from ready where lane.workspace_id = ready.workspace_id
  returning lane.workspace_id`;

const ENDPOINTS = `
  select endpoint.endpoint_id, endpoint.workspace_id, endpoint.url, endpoint.secrets,
         coalesce(health.consecutive_failures, 0) as consecutive_failures, health.probe_at,
         endpoint.headers_ref, endpoint.max_per_second, health.paced_until,
         (select count(*)::integer from webhooks.delivery
          where delivery.endpoint_id = endpoint.endpoint_id and lease is not null and due_at > $2) as detached
  from unnest($1::text[]) claimed (workspace_id)
  cross join lateral (
    select * from webhooks.endpoint known
    where known.workspace_id = claimed.workspace_id and known.deleted_at is null and known.enabled and known.verified
      and not exists (select from webhooks.skipping where skipping.endpoint_id = known.endpoint_id)
  ) endpoint
  left join webhooks.endpoint_health health on health.endpoint_id = endpoint.endpoint_id`;

/**
 * A transaction that inserts deliveries, or follows a change of endpoints, may lock several queues. This waits for none of
 * them. What a release waits for later, rows of deliveries and the health of endpoints, nobody holds who waits for a queue.
 */
const LOCK = `
  select lane.workspace_id from unnest($1::text[], $2::uuid[]) claim (workspace_id, lease)
  join webhooks.lane on lane.workspace_id = claim.workspace_id and lane.lease = claim.lease
  for update of lane skip locked`;

/** Leaves out a delivery whose failure was recorded just now: that raised `attempts`, and its back-off stays. */
const DETACH = `
  update webhooks.delivery set lease = detached.lease, due_at = $4
  from unnest($1::uuid[], $2::integer[], $3::uuid[]) detached (delivery_id, attempts, lease)
  where delivery.delivery_id = detached.delivery_id and delivery.status = 'pending'
    and delivery.attempts = detached.attempts`;

/** Later deliveries of the reading cannot be sent before, so they are due when it is. */
const PUT_OFF = `
  with held as (
    update webhooks.delivery set lease = null, due_at = $3
    where delivery_id = $1 and status = 'pending' and (lease is null or lease = $2)
    returning endpoint_id, reading_id, sequence, redelivery, due_at
  )
  update webhooks.delivery follower set due_at = held.due_at from held
  where follower.endpoint_id = held.endpoint_id and follower.reading_id = held.reading_id
    and follower.sequence > held.sequence and follower.status = 'pending' and not follower.redelivery
    and not held.redelivery and follower.due_at < held.due_at`;

/** The end of a delivery in flight makes the queue ready (`markReady`). When its worker dies, its lease ends. */
const LEASED_UNTIL = `
  (select min(due_at) from webhooks.delivery
   where delivery.endpoint_id = endpoint.endpoint_id and lease is not null and due_at > $1)`;
const RELEASE = `
  update webhooks.lane
  set lease = null, leased_until = '-infinity',
      ready_at = case when earliest.at > $1 then earliest.at
                      else $1::timestamptz + claim.pause_ms * interval '1 millisecond' end
  from unnest($2::text[], $3::integer[]) claim (workspace_id, pause_ms)
  cross join lateral (${earliestFreeAt(
    'claim.workspace_id',
    `(select coalesce(${LEASED_UNTIL}, $1::timestamptz + rest.ms * interval '1 millisecond')
      from unnest($4::text[], $5::integer[]) rest (endpoint_id, ms) where rest.endpoint_id = endpoint.endpoint_id)`,
  )}) earliest
  where lane.workspace_id = claim.workspace_id
  returning lane.ready_at <= $1 as is_ready`;

/** Claims and releases the queues of all workspaces (domain/delivery/delivery-state.ts), shared by all workers. */
export class WorkspaceQueues {
  constructor(
    private readonly pool: pg.Pool,
    private readonly leaseMs: number,
  ) {}

  /**
   * Claims up to `count` queues that are ready.
   * @param now milliseconds since the epoch
   */
  async claim(count: number, now: number): Promise<readonly WorkspaceClaim[]> {
    const at = instant(now);
    const lease = randomUUID();
    // Named statements are planned once per connection.
    const claimed = await this.pool.query<{ workspace_id: string }>({
      name: 'webhooks.claim',
      text: CLAIM,
      values: [at, count, lease, this.leaseMs],
    });
    if (claimed.rows.length === 0) return [];
    const workspaceIds = claimed.rows.map(({ workspace_id: workspaceId }) => workspaceId);
    const { rows } = await this.pool.query<EndpointColumns>({
      name: 'webhooks.endpoints',
      text: ENDPOINTS,
      values: [workspaceIds, at],
    });
    const of = (workspaceId: string): readonly EndpointColumns[] =>
      rows.filter((row) => row.workspace_id === workspaceId);
    return workspaceIds.map((workspaceId) => ({
      workspaceId,
      lease,
      endpoints: of(workspaceId).map(endpointFromColumns),
    }));
  }

  /**
   * Releases queues, and detaches what is still in flight.
   * @returns the claims that were released, and whether one of their queues is ready again. The caller releases the
   * others a little later.
   */
  async release<Claim extends FinishedClaim>(
    claims: readonly Claim[],
    now: number,
  ): Promise<{ released: readonly Claim[]; isAnyReady: boolean }> {
    return transaction(this.pool, async (client) => {
      const locked = await client.query<{ workspace_id: string }>({
        name: 'webhooks.lock-claims',
        text: LOCK,
        values: [claims.map(({ workspaceId }) => workspaceId), claims.map(({ lease }) => lease)],
      });
      const workspaceIds = new Set(locked.rows.map(({ workspace_id: workspaceId }) => workspaceId));
      const released = claims.filter(({ workspaceId }) => workspaceIds.has(workspaceId));
      const detached = released.flatMap(({ toDetach, lease }) => toDetach.map((one) => ({ ...one, lease })));
      if (detached.length > 0)
        await client.query({
          name: 'webhooks.detach',
          text: DETACH,
          values: [
            detached.map(({ deliveryId }) => deliveryId),
            detached.map(({ attempts }) => attempts),
            detached.map(({ lease }) => lease),
            instant(now + this.leaseMs),
          ],
        });
      await savePaces(
        client,
        released.flatMap(({ paces }) => paces),
      );
      const rests = released.flatMap((claim) => claim.rests);
      // A statement of its own sees deliveries that were inserted before the queues were locked.
      const { rows } = await client.query<{ is_ready: boolean }>({
        name: 'webhooks.release',
        text: RELEASE,
        values: [
          instant(now),
          released.map(({ workspaceId }) => workspaceId),
          released.map(({ pauseMs }) => pauseMs),
          rests.map(({ endpointId }) => endpointId),
          rests.map(({ restMs }) => restMs),
        ],
      });
      return { released, isAnyReady: rows.some(({ is_ready: isReady }) => isReady) };
    });
  }

  /** Gives up the lease of a detached delivery whose attempt was cancelled: it is due at once. */
  async releaseDelivery(
    { workspaceId, lease }: { readonly workspaceId: string; readonly lease: string },
    deliveryId: string,
    now: number,
  ): Promise<void> {
    await this.pool.query(
      `update webhooks.delivery set lease = null, due_at = $3
       where delivery_id = $1 and lease = $2 and status = 'pending'`,
      [deliveryId, lease, instant(now)],
    );
    await this.markReady(workspaceId, now);
  }

  /** A delivery that could not be prepared is due later. @param until milliseconds since the epoch */
  async putOff({ lease }: Pick<WorkspaceClaim, 'lease'>, deliveryId: string, until: number): Promise<void> {
    await this.pool.query(PUT_OFF, [deliveryId, lease, instant(until)]);
  }

  /** A detached delivery has ended, so the in-flight limits may allow another. */
  async markReady(workspaceId: string, now: number): Promise<void> {
    // Unconditional, so that it waits for a release under way, which may have read the earlier due time.
    await this.pool.query('update webhooks.lane set ready_at = least(ready_at, $2) where workspace_id = $1', [
      workspaceId,
      instant(now),
    ]);
  }
}

const endpointFromColumns = (row: EndpointColumns): EndpointSnapshot => ({
  endpointId: row.endpoint_id,
  url: row.url,
  secrets: row.secrets,
  consecutiveFailures: row.consecutive_failures,
  probeAt: row.probe_at?.getTime() ?? null,
  detached: row.detached,
  headersRef: row.headers_ref,
  maxPerSecond: row.max_per_second,
  pacedUntil: row.paced_until?.getTime() ?? null,
});
