import { Inject, Injectable } from '@nestjs/common';
import type pg from 'pg';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import type { PublicEventType } from '../../contracts/event-types.js';
import type { AttemptError } from '../../domain/delivery/attempt-result.js';

/** A delivery as the endpoint's owner sees it. Of the receiver's answer only the class of error and the status. */
export interface DeliveryRecord {
  readonly deliveryId: string;
  readonly eventId: string;
  readonly type: PublicEventType;
  readonly readingId: string;
  readonly status: 'pending' | 'succeeded' | 'exhausted' | 'skipped';
  readonly attempts: number;
  readonly nextAttemptAt: string | null;
  readonly test: boolean;
  readonly redelivery: boolean;
  /** Of the replay that it belongs to. */
  readonly replayId: string | null;
  readonly createdAt: string;
  readonly settledAt: string | null;
  readonly lastAttempt: {
    readonly number: number;
    readonly startedAt: string;
    readonly durationMs: number;
    readonly statusCode: number | null;
    readonly error: AttemptError | null;
  } | null;
}

interface Columns {
  readonly delivery_id: string;
  readonly event_id: string;
  readonly type: PublicEventType;
  readonly reading_id: string;
  readonly status: DeliveryRecord['status'];
  readonly attempts: number;
  readonly due_at: Date;
  readonly test: boolean;
  readonly redelivery: boolean;
  readonly replay_id: string | null;
  readonly created_at: Date;
  readonly settled_at: Date | null;
  readonly number: number | null;
  readonly started_at: Date;
  readonly duration_ms: number;
  readonly status_code: number | null;
  readonly error: AttemptError | null;
}

const SELECT = `
  select delivery.*, event.type, last.number, last.started_at, last.duration_ms, last.status_code, last.error
  from webhooks.delivery
  join webhooks.public_event event using (event_id)
  left join lateral (
    select * from webhooks.attempt where attempt.delivery_id = delivery.delivery_id order by number desc limit 1
  ) last on true`;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Reads the deliveries of an endpoint. */
@Injectable()
export class DeliveryRows {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  /** A delivery of this endpoint, or `null`; of another's endpoint as well. */
  async find(endpointId: string, deliveryId: string): Promise<DeliveryRecord | null> {
    if (!UUID.test(deliveryId)) return null;
    const { rows } = await this.pool.query<Columns>(
      `${SELECT} where delivery.delivery_id = $1 and delivery.endpoint_id = $2`,
      [deliveryId, endpointId],
    );
    return rows[0] ? fromColumns(rows[0]) : null;
  }

  /** A page of an endpoint's deliveries, newest first, after the given instant of creation and id. */
  async page(
    endpointId: string,
    limit: number,
    after: readonly string[] | null,
  ): Promise<readonly DeliveryRecord[]> {
    const { rows } = await this.pool.query<Columns>(
      `${SELECT}
       where delivery.endpoint_id = $1
         and ($2::timestamptz is null or (delivery.created_at, delivery.delivery_id) < ($2, $3))
       order by delivery.created_at desc, delivery.delivery_id desc
       limit $4`,
      [endpointId, after?.[0] ?? null, after?.[1] ?? null, limit],
    );
    return rows.map(fromColumns);
  }

  /** Deliveries left out since the endpoint was disabled; 0 while it is enabled. */
  async countSkipped(endpointId: string): Promise<number> {
    const { rows } = await this.pool.query<{ skipped: number }>(
      `select count(*)::integer as skipped
       from webhooks.delivery join webhooks.endpoint using (endpoint_id)
       where endpoint_id = $1 and delivery.status = 'skipped' and delivery.settled_at >= endpoint.disabled_at`,
      [endpointId],
    );
    return rows[0]!.skipped;
  }
}

const fromColumns = (row: Columns): DeliveryRecord => ({
  deliveryId: row.delivery_id,
  eventId: row.event_id,
  type: row.type,
  readingId: row.reading_id,
  status: row.status,
  attempts: row.attempts,
  nextAttemptAt: row.status === 'pending' ? row.due_at.toISOString() : null,
  test: row.test,
  redelivery: row.redelivery,
  replayId: row.replay_id,
  createdAt: row.created_at.toISOString(),
  settledAt: row.settled_at?.toISOString() ?? null,
  lastAttempt:
    row.number === null
      ? null
      : {
          number: row.number,
          startedAt: row.started_at.toISOString(),
          durationMs: row.duration_ms,
          statusCode: row.status_code,
          error: row.error,
        },
});
