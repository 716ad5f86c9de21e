import { Inject, Injectable } from '@nestjs/common';
import type pg from 'pg';
import { instant, type Clock } from '@app/event-sourcing/core/clock.js';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import { CLOCK } from '@app/platform/tokens.js';
import type { QueueHealthRecord } from '../../contracts/health.js';

/** How far back attempts are counted. */
const WINDOW_MS = 86_400_000;

/** An endpoint's pending deliveries and recent attempts, as columns of a query that has `endpoint_id`, $1 (now) and $2. */
export const HEALTH_COLUMNS = `
  (select count(*)::integer from webhooks.delivery
   where delivery.endpoint_id = endpoint.endpoint_id and delivery.status = 'pending') as pending,
  (select min(due_at) from webhooks.delivery
   where delivery.endpoint_id = endpoint.endpoint_id and delivery.status = 'pending') as next_at,
  (select started_at from webhooks.attempt
   where attempt.endpoint_id = endpoint.endpoint_id and attempt.error is null
   order by started_at desc limit 1) as last_success_at,
  (select coalesce(json_object_agg(ended, count), '{}')
   from (select coalesce(error, 'succeeded') as ended, count(*)::integer from webhooks.attempt
         where attempt.endpoint_id = endpoint.endpoint_id and attempt.started_at > $2
         group by 1) counted) as attempts`;

export interface HealthColumns {
  readonly pending: number;
  readonly next_at: Date | null;
  readonly last_success_at: Date | null;
  readonly attempts: Readonly<Record<string, number>>;
}

/** Tells how the queues of endpoints fare. */
@Injectable()
export class QueueHealth {
  constructor(
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async of(endpointId: string): Promise<QueueHealthRecord> {
    const now = this.clock.now();
    const { rows } = await this.pool.query<HealthColumns>(
      `select ${HEALTH_COLUMNS} from (select $3::text as endpoint_id, $1::timestamptz) endpoint`,
      [instant(now), instant(now - WINDOW_MS), endpointId],
    );
    return healthFromColumns(rows[0]!, now);
  }
}

export const healthFromColumns = (
  { pending, next_at: nextAt, last_success_at: lastSuccessAt, attempts }: HealthColumns,
  now: number,
): QueueHealthRecord => ({
  pending,
  queueAgeSeconds: nextAt === null ? 0 : Math.max(0, Math.round((now - nextAt.getTime()) / 1_000)),
  nextAttemptAt: nextAt?.toISOString() ?? null,
  lastSuccessAt: lastSuccessAt?.toISOString() ?? null,
  attempts,
});
