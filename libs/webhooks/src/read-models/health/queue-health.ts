import { Inject, Injectable } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import { instant, type Clock } from '#event-sourcing/core/clock.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { CLOCK } from '#platform/tokens.js';
import {
  GetEndpointQueue,
  ListWebhookEndpoints,
  type EndpointHealth,
  type EndpointQueue,
  type QueueHealthRecord,
} from '../../contracts/health.js';
import { firstHour } from '../../contracts/stats.js';
import {
  ENDPOINT_COLUMNS,
  ENDPOINT_TABLES,
  endpointFromColumns,
  type EndpointColumns,
} from '../endpoint/endpoint-rows.js';
import { freeAt } from '../delivery/delivery-sql.js';

/**
 * Pending deliveries of a query's `endpoint`, and its `health`. The last success is that of the hourly sums: the history
 * has no index that finds it behind many skipped deliveries.
 */
const QUEUE_COLUMNS = `
  (select count(*)::integer from webhooks.delivery
   where delivery.endpoint_id = endpoint.endpoint_id and delivery.status = 'pending') as pending,
  (select ${freeAt('min(due_at)')} from webhooks.delivery
   where delivery.endpoint_id = endpoint.endpoint_id and delivery.status = 'pending') as next_at,
  (select last_at from webhooks.endpoint_hour
   where endpoint_hour.endpoint_id = endpoint.endpoint_id and outcome = 'succeeded'
   order by hour desc limit 1) as last_success_at`;

/**
 * The same with recent attempts. They are sums: the history has no index by the time of an attempt, and millions of rows.
 * $1: the first hour that counts.
 */
const HEALTH_COLUMNS = `${QUEUE_COLUMNS},
  (select coalesce(json_object_agg(outcome, attempts), '{}')
   from (select outcome, sum(attempts)::integer as attempts from webhooks.endpoint_hour
         where endpoint_hour.endpoint_id = endpoint.endpoint_id and hour >= $1
         group by outcome) summed) as attempts`;

interface QueueColumns {
  readonly pending: number;
  readonly next_at: Date | null;
  readonly last_success_at: Date | null;
}

interface HealthColumns extends QueueColumns {
  readonly attempts: Readonly<Record<string, number>>;
}

/** Reports the health of endpoint queues. */
@Injectable()
export class QueueHealth {
  constructor(
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async of(endpointId: string): Promise<QueueHealthRecord> {
    const now = this.clock.now();
    const { rows } = await this.pool.query<HealthColumns>(
      `select ${HEALTH_COLUMNS}
       from (select $2::text as endpoint_id) endpoint left join webhooks.endpoint_health health using (endpoint_id)`,
      [instant(firstHour(now)), endpointId],
    );
    return healthFromColumns(rows[0]!, now);
  }

  /** Endpoints that are not deleted, the longest waiting first. `null`: no filter. */
  async list(by: {
    readonly endpointId: string | null;
    readonly workspaceId: string | null;
  }): Promise<readonly EndpointHealth[]> {
    const now = this.clock.now();
    const { rows } = await this.pool.query<EndpointColumns & HealthColumns>(
      `select ${ENDPOINT_COLUMNS}, ${HEALTH_COLUMNS} ${ENDPOINT_TABLES}
       where endpoint.deleted_at is null and ($2::text is null or endpoint.endpoint_id = $2)
         and ($3::text is null or endpoint.workspace_id = $3)
       order by next_at nulls last, endpoint.created_at`,
      [instant(firstHour(now)), by.endpointId, by.workspaceId],
    );
    return rows.map((row) => ({
      endpoint: endpointFromColumns(row).record,
      workspaceId: row.workspace_id,
      ...healthFromColumns(row, now),
    }));
  }
}

const healthFromColumns = (
  { pending, next_at: nextAt, last_success_at: lastSuccessAt, attempts }: HealthColumns,
  now: number,
): QueueHealthRecord => ({
  pending,
  queueAgeSeconds: nextAt === null ? 0 : Math.max(0, Math.round((now - nextAt.getTime()) / 1_000)),
  nextAttemptAt: nextAt?.toISOString() ?? null,
  lastSuccessAt: lastSuccessAt?.toISOString() ?? null,
  attempts,
});

@QueryHandler(ListWebhookEndpoints)
export class ListWebhookEndpointsHandler implements IQueryHandler<ListWebhookEndpoints> {
  constructor(private readonly queues: QueueHealth) {}

  execute({ workspaceId, endpointId }: ListWebhookEndpoints): Promise<readonly EndpointHealth[]> {
    return this.queues.list({ endpointId, workspaceId });
  }
}

@QueryHandler(GetEndpointQueue)
export class GetEndpointQueueHandler implements IQueryHandler<GetEndpointQueue> {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  async execute({ workspaceId, endpointId }: GetEndpointQueue): Promise<EndpointQueue | null> {
    const { rows } = await this.pool.query<QueueColumns & { readonly valid_until: Date | null }>(
      `select ${QUEUE_COLUMNS},
         (select max((secret ->> 'validUntil')::timestamptz) from jsonb_array_elements(endpoint.secrets) secret) as valid_until
       from webhooks.endpoint left join webhooks.endpoint_health health using (endpoint_id)
       where endpoint.endpoint_id = $1 and endpoint.workspace_id = $2 and endpoint.deleted_at is null`,
      [endpointId, workspaceId],
    );
    const [row] = rows;
    if (!row) return null;
    return {
      pending: row.pending,
      nextAttemptAt: row.next_at?.toISOString() ?? null,
      lastSuccessAt: row.last_success_at?.toISOString() ?? null,
      oldSecretsValidUntil: row.valid_until?.toISOString() ?? null,
    };
  }
}
