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

/** An endpoint that may be sent to, as it was when it was read. */
export interface EndpointSnapshot {
  readonly endpointId: string;
  /** Of its stream: with another one, what was read for it may be skipped by now. */
  readonly revision: string;
  readonly url: string;
  readonly secrets: readonly EndpointSecret[];
  readonly consecutiveFailures: number;
  /** Milliseconds since the epoch: from then on an endpoint that keeps failing is sent one delivery. */
  readonly probeAt: number;
  readonly headersRef: string | null;
  readonly maxPerSecond: number | null;
}

const FOUND_AT_ONCE = 1_000;

/** SQL: `endpoint` may be sent to. */
const IS_OPEN = `
  endpoint.enabled and endpoint.verified and endpoint.deleted_at is null
  and not exists (select from webhooks.skipping where skipping.endpoint_id = endpoint.endpoint_id)`;

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
  where ${IS_OPEN}
    and (health.consecutive_failures is null or health.consecutive_failures < ${PROBE_AFTER_FAILURES}
         or health.probe_at is null or health.probe_at <= $1)
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

const ENDPOINTS = `
  select endpoint.workspace_id as "workspaceId", endpoint.endpoint_id as "endpointId", endpoint.revision::text,
         endpoint.url, endpoint.secrets, coalesce(health.consecutive_failures, 0) as "consecutiveFailures",
         health.probe_at as "probeAt", endpoint.headers_ref as "headersRef", endpoint.max_per_second as "maxPerSecond"
  from webhooks.endpoint
  left join webhooks.endpoint_health health on health.endpoint_id = endpoint.endpoint_id
  where endpoint.workspace_id = any ($1::text[]) and ${IS_OPEN}
  order by endpoint.workspace_id`;

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
  async due(now: number): Promise<readonly string[]> {
    const { rows } = await this.pool.query<{ workspace_id: string }>({
      name: 'webhooks.due-workspaces',
      text: DUE,
      values: [instant(now)],
    });
    return rows.map(({ workspace_id: workspaceId }) => workspaceId);
  }

  /** Takes or renews leases. @returns the endpoints of the workspaces that the worker has now, by workspace */
  async take(
    leases: readonly WorkspaceLease[],
    now: number,
  ): Promise<ReadonlyMap<string, readonly EndpointSnapshot[]>> {
    if (leases.length === 0) return new Map();
    const taken = await this.pool.query<{ workspace_id: string }>({
      // Named statements are planned once per connection.
      name: 'webhooks.take',
      text: TAKE,
      values: [...columnsOf(leases), instant(now), instant(now + this.leaseMs)],
    });
    const workspaceIds = taken.rows.map(({ workspace_id: workspaceId }) => workspaceId);
    const endpoints = new Map(workspaceIds.map((workspaceId) => [workspaceId, [] as EndpointSnapshot[]]));
    if (workspaceIds.length === 0) return endpoints;
    const { rows } = await this.pool.query<
      Omit<EndpointSnapshot, 'probeAt'> & { readonly workspaceId: string; readonly probeAt: Date | null }
    >({ name: 'webhooks.endpoints', text: ENDPOINTS, values: [workspaceIds] });
    for (const { workspaceId, probeAt, ...row } of rows)
      endpoints.get(workspaceId)!.push({ ...row, probeAt: probeAt?.getTime() ?? 0 });
    return endpoints;
  }

  async release(leases: readonly WorkspaceLease[]): Promise<void> {
    if (leases.length === 0) return;
    await this.pool.query({ name: 'webhooks.release', text: RELEASE, values: columnsOf(leases) });
  }
}

const columnsOf = (leases: readonly WorkspaceLease[]): [string[], string[]] => [
  leases.map(({ workspaceId }) => workspaceId),
  leases.map(({ lease }) => lease),
];
