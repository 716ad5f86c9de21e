import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { instant } from '@app/event-sourcing/core/clock.js';
import { transaction } from '@app/platform/postgres/pool.js';
import { freeAt } from '../../read-models/delivery/delivery-sql.js';
import type { EndpointSecret } from '../../domain/webhook-endpoint/webhook-endpoint.state.js';

/** A workspace that this worker alone sends for, until the lease ends. */
export interface TakenLane {
  readonly workspaceId: string;
  readonly lease: string;
  readonly endpoints: readonly LaneEndpoint[];
}

/** An endpoint to which may be sent, as it was when its lane was taken. */
export interface LaneEndpoint {
  readonly endpointId: string;
  readonly url: string;
  readonly secrets: readonly EndpointSecret[];
  readonly consecutiveFailures: number;
  /** Milliseconds since the epoch: an endpoint that keeps failing is tried once from then on. */
  readonly probeAt: number | null;
  /** Deliveries still in flight from earlier turns, of any worker. */
  readonly flying: number;
}

/** A delivery that outlasts its turn. */
export interface Straggler {
  readonly deliveryId: string;
  /** Attempts recorded when it was sent. */
  readonly attempts: number;
}

/** A turn that has ended. */
export interface EndedTurn {
  readonly workspaceId: string;
  readonly lease: string;
  /** Deliveries whose answer has not come yet: each keeps the lease for itself. */
  readonly stragglers: readonly Straggler[];
  /** When the lane is had again if something is due: at once, or after a pause because it could not be sent. */
  readonly pauseMs: number;
}

interface EndpointColumns {
  readonly endpoint_id: string;
  readonly workspace_id: string;
  readonly url: string;
  readonly secrets: readonly EndpointSecret[];
  readonly consecutive_failures: number;
  readonly probe_at: Date | null;
  readonly flying: number;
}

/** The longest waiting first: every workspace has its turn. */
const TAKE = `
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
         (select count(*)::integer from webhooks.delivery
          where delivery.endpoint_id = endpoint.endpoint_id and lease is not null and due_at > $2) as flying
  from unnest($1::text[]) lane (workspace_id)
  cross join lateral (
    select * from webhooks.endpoint known
    where known.workspace_id = lane.workspace_id and known.deleted_at is null and known.enabled
      and not exists (select from webhooks.skipping where skipping.endpoint_id = known.endpoint_id)
  ) endpoint
  left join webhooks.endpoint_health health on health.endpoint_id = endpoint.endpoint_id`;

/** Whoever adds deliveries may hold several lanes: nobody waits for one here, so that none can block another. */
const HOLD = `
  select lane.workspace_id from unnest($1::text[], $2::uuid[]) turn (workspace_id, lease)
  join webhooks.lane on lane.workspace_id = turn.workspace_id and lane.lease = turn.lease
  for update of lane skip locked`;

/** A failure may be recorded until then, and with it when the next attempt is due: that has raised the count, and stays. */
const LEASE_STRAGGLERS = `
  update webhooks.delivery set lease = straggler.lease, due_at = $4
  from unnest($1::uuid[], $2::integer[], $3::uuid[]) straggler (delivery_id, attempts, lease)
  where delivery.delivery_id = straggler.delivery_id and delivery.status = 'pending'
    and delivery.attempts = straggler.attempts`;

/** The lane is ready when the earliest delivery of one of its endpoints is due, or that endpoint's probe. */
const GIVE_BACK = `
  update webhooks.lane
  set lease = null, leased_until = '-infinity',
      ready_at = case when earliest.at > $1 then earliest.at
                      else $1::timestamptz + turn.pause_ms * interval '1 millisecond' end
  from unnest($2::text[], $3::integer[]) turn (workspace_id, pause_ms)
  cross join lateral (
    select coalesce(min(${freeAt('due.at')}), 'infinity') as at
    from webhooks.endpoint
    left join webhooks.endpoint_health health on health.endpoint_id = endpoint.endpoint_id
    cross join lateral (
      select least(
        (select min(due_at) from webhooks.delivery
         where delivery.endpoint_id = endpoint.endpoint_id and status = 'pending' and replay_id is null),
        (select min(due_at) from webhooks.delivery
         where delivery.endpoint_id = endpoint.endpoint_id and status = 'pending' and replay_id is not null)) as at
    ) due
    where endpoint.workspace_id = turn.workspace_id and endpoint.enabled and endpoint.deleted_at is null
  ) earliest
  where lane.workspace_id = turn.workspace_id
  returning lane.ready_at <= $1 as is_ready`;

/** The lanes of all workspaces, shared between the workers. */
export class Lanes {
  constructor(
    private readonly pool: pg.Pool,
    private readonly leaseMs: number,
  ) {}

  /**
   * Takes up to `count` lanes that have something to send and that nobody has.
   * @param now milliseconds since the epoch
   */
  async take(count: number, now: number): Promise<readonly TakenLane[]> {
    const at = instant(now);
    const lease = randomUUID();
    // Named statements are planned once per connection.
    const taken = await this.pool.query<{ workspace_id: string }>({
      name: 'webhooks.take',
      text: TAKE,
      values: [at, count, lease, this.leaseMs],
    });
    if (taken.rows.length === 0) return [];
    const workspaceIds = taken.rows.map(({ workspace_id: workspaceId }) => workspaceId);
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
   * Gives lanes back.
   * @returns those of the turns that did end, and whether one of them has more to send now; the others are to be given
   * back a little later
   */
  async giveBack<Turn extends EndedTurn>(
    turns: readonly Turn[],
    now: number,
  ): Promise<{ ended: readonly Turn[]; hasMore: boolean }> {
    return transaction(this.pool, async (client) => {
      const held = await client.query<{ workspace_id: string }>({
        name: 'webhooks.hold',
        text: HOLD,
        values: [turns.map(({ workspaceId }) => workspaceId), turns.map(({ lease }) => lease)],
      });
      const workspaceIds = new Set(held.rows.map(({ workspace_id: workspaceId }) => workspaceId));
      const ended = turns.filter(({ workspaceId }) => workspaceIds.has(workspaceId));
      const stragglers = ended.flatMap((turn) =>
        turn.stragglers.map((straggler) => ({ ...straggler, lease: turn.lease })),
      );
      if (stragglers.length > 0)
        await client.query({
          name: 'webhooks.lease-stragglers',
          text: LEASE_STRAGGLERS,
          values: [
            stragglers.map(({ deliveryId }) => deliveryId),
            stragglers.map(({ attempts }) => attempts),
            stragglers.map(({ lease }) => lease),
            instant(now + this.leaseMs),
          ],
        });
      // A statement of its own sees what was added until the lanes were held.
      const { rows } = await client.query<{ is_ready: boolean }>({
        name: 'webhooks.give-back',
        text: GIVE_BACK,
        values: [
          instant(now),
          ended.map(({ workspaceId }) => workspaceId),
          ended.map(({ pauseMs }) => pauseMs),
        ],
      });
      return { ended, hasMore: rows.some(({ is_ready: isReady }) => isReady) };
    });
  }

  /** Gives a delivery back that outlasted its turn and was not attempted to the end. */
  async release(
    { workspaceId, lease }: { readonly workspaceId: string; readonly lease: string },
    deliveryId: string,
    now: number,
  ): Promise<void> {
    await this.pool.query(
      `update webhooks.delivery set lease = null, due_at = $3
       where delivery_id = $1 and lease = $2 and status = 'pending'`,
      [deliveryId, lease, instant(now)],
    );
    await this.open(workspaceId, now);
  }

  /** A delivery that outlasted its turn has ended: there may be room in its lane. */
  async open(workspaceId: string, now: number): Promise<void> {
    // Without a condition, so that it waits for who is giving the lane back, and may have read the due time of before.
    await this.pool.query('update webhooks.lane set ready_at = least(ready_at, $2) where workspace_id = $1', [
      workspaceId,
      instant(now),
    ]);
  }
}

const endpointFromColumns = (row: EndpointColumns): LaneEndpoint => ({
  endpointId: row.endpoint_id,
  url: row.url,
  secrets: row.secrets,
  consecutiveFailures: row.consecutive_failures,
  probeAt: row.probe_at?.getTime() ?? null,
  flying: row.flying,
});
