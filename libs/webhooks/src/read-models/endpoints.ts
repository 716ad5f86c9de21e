import { Inject } from '@nestjs/common';
import type pg from 'pg';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type { Mode } from '#event-sourcing/core/request-context.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { CLOCK } from '#platform/tokens.js';
import {
  type WebhookEndpointRecord,
  ListWebhookEndpoints,
  type EndpointHealth,
  type QueueHealthRecord,
  firstHour,
  type DisabledReason,
} from '../contracts/index.js';
import { asRecord } from '#platform/postgres/as-record.js';
import { freeAt } from './delivery-sql.js';

/** A projected endpoint: its record and fields that its owner does not see. */
export interface EndpointRow {
  readonly record: WebhookEndpointRecord;
  readonly workspaceId: string;
  readonly revision: bigint;
  readonly deleted: boolean;
}

interface Columns extends Omit<WebhookEndpointRecord, 'health'> {
  readonly workspaceId: string;
  readonly revision: string;
  readonly deleted: boolean;
  readonly verified: boolean;
  readonly disabledReason: DisabledReason | null;
  readonly failingSince: string | null;
  readonly consecutiveFailures: number;
}

const COLUMNS = `
  endpoint.endpoint_id as "endpointId", url, events, modes, notices, enabled, description,
  coalesce(custom.names, '{}') as "headerNames", max_per_second as "maxPerSecond", endpoint.created_at as "createdAt",
  updated_at as "updatedAt", coalesce(secret.hint, '') as "secretHint", endpoint.workspace_id as "workspaceId",
  revision::text, deleted_at is not null as deleted, verified, disabled_reason as "disabledReason",
  health.failing_since as "failingSince", coalesce(health.consecutive_failures, 0) as "consecutiveFailures"`;
const tablesOf = (endpoint: string, isOfHealth = 'health.endpoint_id = endpoint.endpoint_id'): string => `
  from ${endpoint}
  left join webhooks.endpoint_health health on ${isOfHealth}
  left join webhooks.secret on secret.secret_ref = (endpoint.secrets -> 0 ->> 'ref')::uuid
  left join webhooks.endpoint_headers custom on custom.headers_ref = endpoint.headers_ref`;
const SELECT = `select ${COLUMNS} ${tablesOf('webhooks.endpoint')}`;
/** $1: what the events of an endpoint make its row. Failures are of another row. */
const PROJECTED = `
  select ${COLUMNS} ${tablesOf('json_populate_record(null::webhooks.endpoint, $1) endpoint', 'false')}`;

export const findEndpoint = async (pool: pg.Pool, endpointId: string): Promise<EndpointRow | null> => {
  const { rows } = await pool.query<Columns>(`${SELECT} where endpoint.endpoint_id = $1`, [endpointId]);
  return rows[0] ? rowOf(rows[0]) : null;
};

/** @param row that the endpoint's events make, and that the table may not have yet */
export const projectedEndpoint = async (pool: pg.Pool, row: object): Promise<EndpointRow> => {
  return rowOf((await pool.query<Columns>(PROJECTED, [JSON.stringify(row)])).rows[0]!);
};

/** A page of a workspace's endpoints for one of these modes, newest first, after this instant of creation and id. */
export const pageOfEndpoints = async (
  pool: pg.Pool,
  workspaceId: string,
  sees: readonly Mode[],
  limit: number,
  after: readonly string[] | null,
): Promise<readonly WebhookEndpointRecord[]> => {
  const { rows } = await pool.query<Columns>(
    `${SELECT}
     where endpoint.workspace_id = $1 and endpoint.deleted_at is null and endpoint.modes && $5::text[]
       and ($2::timestamptz is null or (endpoint.created_at, endpoint.endpoint_id) < ($2, $3))
     order by endpoint.created_at desc, endpoint.endpoint_id desc
     limit $4`,
    [workspaceId, after?.[0] ?? null, after?.[1] ?? null, limit, sees],
  );
  return rows.map((row) => rowOf(row).record);
};

const rowOf = (row: Columns): EndpointRow => {
  const { workspaceId, revision, deleted, verified, ...shown } = asRecord<Columns>(row);
  const { disabledReason, failingSince, consecutiveFailures, secretHint, ...settings } = shown;
  const state = healthState(settings.enabled, verified, consecutiveFailures);
  const health = { state, failingSince, disabledReason, consecutiveFailures };
  return { record: { ...settings, health, secretHint }, workspaceId, revision: BigInt(revision), deleted };
};

const healthState = (
  enabled: boolean,
  verified: boolean,
  consecutiveFailures: number,
): WebhookEndpointRecord['health']['state'] => {
  if (!enabled) return 'disabled';
  if (!verified) return 'unverified';
  return consecutiveFailures > 0 ? 'failing' : 'ok';
};

/** SQL: when the first pending delivery of `endpoint` is due, from a replay or not: an index has each in order. */
const firstDue = (replay: 'null' | 'not null'): string => `
  (select min(due_at) from webhooks.delivery
   where delivery.endpoint_id = endpoint.endpoint_id and delivery.status = 'pending' and replay_id is ${replay})`;

/** A workspace is told so many of a longer queue, which takes a third of a second a million to count. */
const MAX_COUNTED = 100_000;

/**
 * Of `endpoint`. The last success and the attempts are from the hourly sums: no index of the history finds them. $1: the
 * first hour that counts; $2: how many pending deliveries are counted at most, null for all.
 */
const HEALTH_COLUMNS = `
  (select count(*)::integer from (select from webhooks.delivery
   where delivery.endpoint_id = endpoint.endpoint_id and delivery.status = 'pending' limit $2) counted) as pending,
  (select ${freeAt('due_at')} from (select least(${firstDue('null')}, ${firstDue('not null')}) as due_at) first) as "nextAttemptAt",
  (select last_at from webhooks.endpoint_hour
   where endpoint_hour.endpoint_id = endpoint.endpoint_id and outcome = 'succeeded'
   order by hour desc limit 1) as "lastSuccessAt",
  (select coalesce(json_object_agg(outcome, attempts), '{}')
   from (select outcome, sum(attempts)::integer as attempts from webhooks.endpoint_hour
         where endpoint_hour.endpoint_id = endpoint.endpoint_id and hour >= $1
         group by outcome) summed) as attempts`;

type HealthColumns = Omit<QueueHealthRecord, 'queueAgeSeconds'>;

@QueryHandler(ListWebhookEndpoints)
export class QueueHealth implements IQueryHandler<ListWebhookEndpoints> {
  constructor(
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async of(endpointId: string): Promise<QueueHealthRecord> {
    const now = this.clock.now();
    const { rows } = await this.pool.query<HealthColumns>(
      `select ${HEALTH_COLUMNS}
       from (select $3::text as endpoint_id) endpoint left join webhooks.endpoint_health health using (endpoint_id)`,
      [instant(firstHour(now)), MAX_COUNTED, endpointId],
    );
    return healthOf(rows[0]!, now);
  }

  async execute({ endpointId, workspaceId }: ListWebhookEndpoints): Promise<readonly EndpointHealth[]> {
    const now = this.clock.now();
    const { rows } = await this.pool.query<Columns & HealthColumns & { readonly oldSecret: Date | null }>(
      `select ${COLUMNS}, ${HEALTH_COLUMNS},
         (select max((secret ->> 'validUntil')::timestamptz)
          from jsonb_array_elements(endpoint.secrets) secret) as "oldSecret"
       ${tablesOf('webhooks.endpoint')}
       where endpoint.deleted_at is null and ($3::text is null or endpoint.endpoint_id = $3)
         and ($4::text is null or endpoint.workspace_id = $4)
       order by "nextAttemptAt" nulls last, endpoint.created_at`,
      [instant(firstHour(now)), workspaceId === null ? null : MAX_COUNTED, endpointId, workspaceId],
    );
    return rows.map(({ pending, nextAttemptAt, lastSuccessAt, attempts, oldSecret, ...row }) => {
      const { record: endpoint, workspaceId: owner } = rowOf(row);
      const health = healthOf({ pending, nextAttemptAt, lastSuccessAt, attempts }, now);
      const oldSecretsValidUntil = oldSecret?.toISOString() ?? null;
      return { endpoint, workspaceId: owner, ...health, oldSecretsValidUntil };
    });
  }
}

const healthOf = (columns: HealthColumns, now: number): QueueHealthRecord => {
  const { pending, nextAttemptAt, ...rest } = asRecord<HealthColumns>(columns);
  const waited = nextAttemptAt === null ? 0 : Math.round((now - Date.parse(nextAttemptAt)) / 1_000);
  return { pending, queueAgeSeconds: Math.max(0, waited), nextAttemptAt, ...rest };
};
