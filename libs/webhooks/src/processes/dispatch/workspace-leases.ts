import type pg from 'pg';
import { instant } from '#event-sourcing/core/clock.js';
import { PROBE_AFTER_FAILURES } from '../../domain/attempt.js';
import type { Config } from '../../settings.js';

/** The right to send for a workspace: until it expires, no other worker does. */
export interface WorkspaceLease {
  readonly workspaceId: string;
  /** Of one worker, from taking the lease to giving it up. */
  readonly lease: string;
}

const FOUND_AT_ONCE = 1_000;

/** SQL: `endpoint` may be sent to. */
export const IS_OPEN = `
  endpoint.enabled and endpoint.verified and endpoint.deleted_at is null
  and not exists (select from webhooks.skipping where skipping.endpoint_id = endpoint.endpoint_id)`;

/** SQL: an endpoint that keeps failing waits for its probe. Reads `health`. */
export const isFree = (now: string): string => `
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
