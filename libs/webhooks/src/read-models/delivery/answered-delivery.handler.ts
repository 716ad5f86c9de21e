import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import { instant } from '#event-sourcing/core/clock.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { AnswerVault } from '../../application/answers/answer-vault.js';
import {
  FindAnsweredDelivery,
  type AnsweredAttemptRecord,
  type AnsweredDelivery,
  type DeliveryStatus,
} from '../../contracts/deliveries.js';
import { ALL_ATTEMPTS, ALL_DELIVERIES } from './settled-sql.js';

interface DeliveryColumns {
  readonly endpoint_id: string;
  readonly event_id: string;
  readonly type: string;
  readonly workspace_id: string;
  readonly reading_id: string | null;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly created_at: Date;
  readonly settled_at: Date | null;
}

interface AttemptColumns {
  readonly number: number;
  readonly started_at: Date;
  readonly duration_ms: number;
  readonly status_code: number | null;
  readonly error: string | null;
  readonly answer: Buffer | null;
}

@QueryHandler(FindAnsweredDelivery)
export class FindAnsweredDeliveryHandler implements IQueryHandler<FindAnsweredDelivery> {
  constructor(
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    private readonly answers: AnswerVault,
  ) {}

  async execute({ deliveryId }: FindAnsweredDelivery): Promise<AnsweredDelivery | null> {
    const found = await this.pool.query<DeliveryColumns>(
      `select endpoint_id, event_id, event.type, event.workspace_id, event.reading_id, delivery.status, delivery.attempts,
              delivery.created_at, delivery.settled_at
       from ${ALL_DELIVERIES} join webhooks.public_event event using (event_id) where delivery_id = $1`,
      [deliveryId],
    );
    const [row] = found.rows;
    if (!row) return null;
    const attempts = await this.pool.query<AttemptColumns>(
      `select number, started_at, duration_ms, status_code, error, answer from ${ALL_ATTEMPTS}
       where delivery_id = $1 order by number`,
      [deliveryId],
    );
    const history = attempts.rows.map((one) => this.opened(deliveryId, row.reading_id, one));
    return {
      deliveryId,
      endpointId: row.endpoint_id,
      workspaceId: row.workspace_id,
      eventId: row.event_id,
      eventType: row.type,
      readingId: row.reading_id,
      status: row.status,
      attempts: row.attempts,
      createdAt: instant(row.created_at.getTime()),
      settledAt: row.settled_at && instant(row.settled_at.getTime()),
      history: await Promise.all(history),
    };
  }

  private async opened(
    deliveryId: string,
    readingId: string | null,
    {
      number,
      started_at: startedAt,
      duration_ms: durationMs,
      status_code: statusCode,
      error,
      answer,
    }: AttemptColumns,
  ): Promise<AnsweredAttemptRecord> {
    const opened = answer && (await this.answers.open({ deliveryId, attempt: number, readingId }, answer));
    return {
      number,
      startedAt: instant(startedAt.getTime()),
      durationMs,
      statusCode,
      error,
      answer: opened && opened.toString('utf8'),
    };
  }
}
