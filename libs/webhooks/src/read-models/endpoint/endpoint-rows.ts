import { Inject, Injectable } from '@nestjs/common';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { Mode } from '#event-sourcing/core/mode.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import type { WebhookEndpointRecord } from '../../contracts/endpoint-record.js';
import type { PublicEventType } from '../../contracts/event-types.js';
import type { NoticeType } from '../../contracts/notice-types.js';
import type { DisabledReason } from '../../contracts/events.js';

/** A projected endpoint: its record and fields that its owner does not see. */
export interface EndpointRow {
  readonly record: WebhookEndpointRecord;
  readonly workspaceId: string;
  readonly revision: bigint;
  readonly deleted: boolean;
}

export interface EndpointColumns {
  readonly endpoint_id: string;
  readonly workspace_id: string;
  readonly url: string;
  readonly events: PublicEventType[];
  readonly modes: Mode[];
  readonly notices: NoticeType[];
  readonly description: string | null;
  readonly enabled: boolean;
  readonly disabled_reason: DisabledReason | null;
  readonly revision: string;
  readonly created_at: Date;
  readonly updated_at: Date;
  readonly deleted_at: Date | null;
  readonly consecutive_failures: number | null;
  readonly failing_since: Date | null;
  readonly hint: string | null;
  readonly header_names: string[] | null;
  readonly max_per_second: number | null;
  readonly verified: boolean;
}

/** Columns and tables of an endpoint, for queries to extend. */
export const ENDPOINT_COLUMNS = `
  endpoint.*, health.consecutive_failures, health.failing_since, secret.hint, custom.names as header_names`;
export const ENDPOINT_TABLES = `
  from webhooks.endpoint
  left join webhooks.endpoint_health health using (endpoint_id)
  left join webhooks.secret on secret.secret_ref = (endpoint.secrets -> 0 ->> 'ref')::uuid
  left join webhooks.endpoint_headers custom on custom.headers_ref = endpoint.headers_ref`;
const SELECT = `select ${ENDPOINT_COLUMNS} ${ENDPOINT_TABLES}`;

const OWN_PROJECTION_MS = 750;
const OWN_PROJECTION_POLL_MS = 15;

/** Reads the endpoints that the fan-out has projected. */
@Injectable()
export class EndpointRows {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  async find(endpointId: string): Promise<EndpointRow | null> {
    const { rows } = await this.pool.query<EndpointColumns>(`${SELECT} where endpoint.endpoint_id = $1`, [
      endpointId,
    ]);
    return rows[0] ? endpointFromColumns(rows[0]) : null;
  }

  /**
   * A page of a workspace's endpoints, newest first, after the given instant of creation and id.
   * @param sees only endpoints for one of these modes
   */
  async page(
    workspaceId: string,
    sees: readonly Mode[],
    limit: number,
    after: readonly string[] | null,
  ): Promise<readonly WebhookEndpointRecord[]> {
    const { rows } = await this.pool.query<EndpointColumns>(
      `${SELECT}
       where endpoint.workspace_id = $1 and endpoint.deleted_at is null and endpoint.modes && $5::text[]
         and ($2::timestamptz is null or (endpoint.created_at, endpoint.endpoint_id) < ($2, $3))
       order by endpoint.created_at desc, endpoint.endpoint_id desc
       limit $4`,
      [workspaceId, after?.[0] ?? null, after?.[1] ?? null, limit, sees],
    );
    return rows.map((row) => endpointFromColumns(row).record);
  }

  /** Waits a short time until the caller's own write is visible here. */
  async waitFor(endpointId: string, revision: bigint): Promise<void> {
    const givesUpAt = performance.now() + OWN_PROJECTION_MS;
    while (performance.now() < givesUpAt) {
      const { rowCount } = await this.pool.query(
        'select from webhooks.endpoint where endpoint_id = $1 and revision >= $2',
        [endpointId, String(revision)],
      );
      if (rowCount === 1) return;
      await delay(OWN_PROJECTION_POLL_MS);
    }
  }
}

export const endpointFromColumns = (row: EndpointColumns): EndpointRow => ({
  workspaceId: row.workspace_id,
  revision: BigInt(row.revision),
  deleted: row.deleted_at !== null,
  record: {
    endpointId: row.endpoint_id,
    url: row.url,
    events: row.events,
    modes: row.modes,
    notices: row.notices,
    enabled: row.enabled,
    description: row.description,
    headerNames: row.header_names ?? [],
    maxPerSecond: row.max_per_second,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    health: {
      state: healthState(row.enabled, row.verified, row.consecutive_failures ?? 0),
      failingSince: row.failing_since?.toISOString() ?? null,
      disabledReason: row.disabled_reason,
      consecutiveFailures: row.consecutive_failures ?? 0,
    },
    secretHint: row.hint ?? '',
  },
});

export const healthState = (
  enabled: boolean,
  verified: boolean,
  consecutiveFailures: number,
): WebhookEndpointRecord['health']['state'] => {
  if (!enabled) return 'disabled';
  if (!verified) return 'unverified';
  return consecutiveFailures > 0 ? 'failing' : 'ok';
};
