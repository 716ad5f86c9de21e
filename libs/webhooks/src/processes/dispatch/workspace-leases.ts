import type pg from 'pg';
import { instant } from '#event-sourcing/core/clock.js';
import { PROBE_AFTER_FAILURES } from '../../domain/attempt.js';
import type { EndpointSecret } from '../../domain/webhook-endpoint.decider.js';
import type { Config } from '../../settings.js';

/** The right to send for a workspace: until it expires, no other worker does. */
export interface WorkspaceLease {
  readonly workspaceId: string;
  /** Of one worker, from taking the lease to giving it up. */
  readonly lease: string;
}

const FOUND_AT_ONCE = 1_000;

/** SQL: `endpoint` may be sent to. */
const IS_OPEN = `
  endpoint.enabled and endpoint.verified and endpoint.deleted_at is null
  and not exists (select from webhooks.skipping where skipping.endpoint_id = endpoint.endpoint_id)`;

/** SQL: an endpoint that keeps failing waits for its probe. Reads `health`. */
const isFree = (now: string): string => `
  (health.consecutive_failures is null or health.consecutive_failures < ${PROBE_AFTER_FAILURES}
   or health.probe_at is null or health.probe_at <= ${now})`;

const isDue = (replayed: 'is null' | 'is not null'): string => `
  (select from webhooks.delivery
   where delivery.endpoint_id = endpoint.endpoint_id and status = 'pending' and replay_id ${replayed} and due_at <= $1
   limit 1)`;

/** Lateral with a limit: two look-ups for each endpoint. A plain `exists` could be planned over the whole table. */
const DUE = `
  select distinct endpoint.workspace_id
  from webhooks.endpoint
  left join webhooks.endpoint_health health on health.endpoint_id = endpoint.endpoint_id
  cross join lateral (${isDue('is null')} union all ${isDue('is not null')} limit 1) due
  where ${IS_OPEN} and ${isFree('$1')}
    and not exists (select from webhooks.workspace_lease held
                    where held.workspace_id = endpoint.workspace_id and held.leased_until > $1)
  limit ${FOUND_AT_ONCE}`;

/** Takes leases that nobody has, and renews one's own. In one order, so that two workers cannot wait for each other. */
const TAKE = `
  insert into webhooks.workspace_lease as held (workspace_id, lease, leased_until)
  select workspace_id, lease, $4 from unnest($1::text[], $2::uuid[]) asked (workspace_id, lease)
  where not exists (select from webhooks.workspace_lease other
                    where other.workspace_id = asked.workspace_id and other.leased_until > $3::timestamptz
                      and other.lease <> asked.lease)
  order by workspace_id
  on conflict (workspace_id) do update set lease = excluded.lease, leased_until = excluded.leased_until
  where held.leased_until <= $3 or held.lease = excluded.lease
  returning workspace_id`;

const RELEASE = `
  update webhooks.workspace_lease held set lease = null, leased_until = '-infinity'
  from (
    select workspace_id from unnest($1::text[], $2::uuid[]) given (workspace_id, lease)
    join webhooks.workspace_lease using (workspace_id, lease)
    order by workspace_id for update of workspace_lease
  ) own
  where held.workspace_id = own.workspace_id`;

/**
 * How long only one worker sends for a workspace (ms). A worker renews a lease every second, and starts no attempt that could
 * outlive it: otherwise another worker would send the same delivery beside it. The rest is for recording outcomes, and for
 * renewals that come late.
 */
export const leaseMsOf = ({
  WEBHOOK_ATTEMPT_TIMEOUT_MS,
}: Pick<Config, 'WEBHOOK_ATTEMPT_TIMEOUT_MS'>): number => WEBHOOK_ATTEMPT_TIMEOUT_MS + 10_000;

/** One worker at a time sends for a workspace. When it dies, its leases expire and others take them. Times in ms since the epoch. */
export class WorkspaceLeases {
  constructor(
    private readonly pool: pg.Pool,
    private readonly leaseMs: number,
  ) {}

  /** Workspaces that no worker has, with something to send. */
  due(now: number): Promise<readonly string[]> {
    return this.workspaces('webhooks.due-workspaces', DUE, [instant(now)]);
  }

  /** Takes or renews leases. @returns the workspaces that the worker has now */
  async take(leases: readonly WorkspaceLease[], now: number): Promise<ReadonlySet<string>> {
    const values = [...columnsOf(leases), instant(now), instant(now + this.leaseMs)];
    return new Set(leases.length === 0 ? [] : await this.workspaces('webhooks.take', TAKE, values));
  }

  async release(leases: readonly WorkspaceLease[]): Promise<void> {
    if (leases.length > 0) await this.workspaces('webhooks.release', RELEASE, columnsOf(leases));
  }

  /** @param name of the statement, which is planned once per connection */
  private async workspaces(
    name: string,
    text: string,
    values: readonly unknown[],
  ): Promise<readonly string[]> {
    const { rows } = await this.pool.query<{ workspace_id: string }>({ name, text, values: [...values] });
    return rows.map(({ workspace_id: workspaceId }) => workspaceId);
  }
}

const columnsOf = (leases: readonly WorkspaceLease[]): [string[], string[]] => [
  leases.map(({ workspaceId }) => workspaceId),
  leases.map(({ lease }) => lease),
];

/** A due delivery that no earlier delivery of its reading holds up, and its endpoint, as they were when they were read. */
export interface DueDelivery {
  readonly deliveryId: string;
  readonly attempt: number;
  readonly eventId: string;
  readonly type: string;
  /** As stored; `wholeBody` gives what is sent. */
  readonly body: string;
  readonly showsExternalId: boolean;
  readonly readingId: string | null;
  /** Id of the request that the event follows from; `null` for a trial, and for events of older versions. */
  readonly requestId: string | null;
  readonly livemode: boolean;
  readonly test: boolean;
  /** Requested by itself: outside the order of its reading. */
  readonly redelivery: boolean;
  /** Part of a replay: within the order. */
  readonly replayed: boolean;
  readonly workspaceId: string;
  readonly endpointId: string;
  readonly url: string;
  readonly secrets: readonly EndpointSecret[];
  readonly headersRef: string | null;
  readonly maxPerSecond: number | null;
  readonly isFailing: boolean;
  /** The endpoint keeps failing: it is sent one delivery at a time. */
  readonly isProbe: boolean;
}

/** New deliveries of one endpoint read at once. */
const FRESH_AT_ONCE = 10;

/**
 * Due deliveries of one endpoint looked at in one read, new ones and replayed ones. A delivery is due no sooner than the
 * earlier ones of its reading, so the next to be sent is among these, however many wait behind it. Those that wait for a due
 * one of the other kind come when that is sent.
 */
const LOOKED_AT = 100;

/** The due deliveries of an endpoint that no earlier delivery of their reading holds up, the earliest due first. */
const due = (replayed: 'is null' | 'is not null', limit: string): string => `
  (select due.delivery_id, due.attempts, due.event_id, due.test, due.redelivery, due.due_at,
          due.replay_id is not null as replayed
   from (
     select * from webhooks.delivery due
     where due.endpoint_id = endpoint.endpoint_id and due.status = 'pending' and due.replay_id ${replayed}
       and due.due_at <= $2 and due.delivery_id <> all ($3::uuid[])
     order by due.due_at
     limit ${LOOKED_AT}
   ) due
   where due.redelivery or due.sequence <= 1 or coalesce((
     select false from webhooks.delivery earlier
     where earlier.endpoint_id = due.endpoint_id and earlier.reading_id = due.reading_id
       and earlier.sequence < due.sequence and earlier.status = 'pending' and not earlier.redelivery
     limit 1), true)
   order by due.due_at
   limit ${limit})`;

/**
 * New events go before replayed ones, so no more of those are read than can be sent at once. The first of each endpoint
 * comes before the second of any.
 *
 * Shaped for the planner: look-ups are lateral with a limit it knows, and the search for an earlier delivery is a scalar
 * subquery. As plain joins they were planned over the whole table.
 */
const READ = `
  select next.delivery_id as "deliveryId", next.attempts + 1 as attempt, next.event_id as "eventId", event.type, event.body,
         event.shows_external_id as "showsExternalId", event.reading_id as "readingId", event.correlation_id as "requestId",
         event.livemode, next.test, next.redelivery, next.replayed, endpoint.workspace_id as "workspaceId",
         endpoint.endpoint_id as "endpointId", endpoint.url, endpoint.secrets, endpoint.headers_ref as "headersRef",
         endpoint.max_per_second as "maxPerSecond", coalesce(health.consecutive_failures, 0) > 0 as "isFailing",
         coalesce(health.consecutive_failures, 0) >= ${PROBE_AFTER_FAILURES} as "isProbe"
  from webhooks.endpoint
  left join webhooks.endpoint_health health on health.endpoint_id = endpoint.endpoint_id
  cross join lateral (${due('is null', '$5')} union all ${due('is not null', '$6')}) next
  cross join lateral (
    select type, body, shows_external_id, reading_id, correlation_id, livemode
    from webhooks.public_event event where event.event_id = next.event_id limit 1
  ) event
  where endpoint.workspace_id = any ($1::text[]) and endpoint.endpoint_id <> all ($4::text[]) and ${IS_OPEN} and ${isFree('$2')}
  order by next.replayed, row_number() over (partition by endpoint.endpoint_id order by next.replayed, next.due_at),
           next.due_at`;

interface DueQuery {
  /** Whose leases the worker has. */
  readonly workspaceIds: readonly string[];
  /** Deliveries to omit. */
  readonly underWay: readonly string[];
  /** Endpoints to omit: nothing more can be sent to them now. */
  readonly full: readonly string[];
  readonly perEndpoint: number;
}

/** @param now milliseconds since the epoch */
export const readDue = async (
  pool: pg.Pool,
  { workspaceIds, underWay, full, perEndpoint }: DueQuery,
  now: number,
): Promise<readonly DueDelivery[]> => {
  const values = [workspaceIds, instant(now), underWay, full, FRESH_AT_ONCE, perEndpoint];
  return (await pool.query<DueDelivery>({ name: 'webhooks.due', text: READ, values })).rows;
};
