import { Inject } from '@nestjs/common';
import { QueryHandler, type IQueryHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import { instant } from '#event-sourcing/core/clock.js';
import { POSTGRES } from '#platform/postgres/pool.js';
import { ListDeliveriesOfReading, type DeliveryOfReading } from '../../contracts/deliveries.js';
import { ALL_DELIVERIES } from './settled-sql.js';

interface Row extends Omit<DeliveryOfReading, 'createdAt' | 'settledAt'> {
  readonly createdAt: Date;
  readonly settledAt: Date | null;
}

@QueryHandler(ListDeliveriesOfReading)
export class ListDeliveriesOfReadingHandler implements IQueryHandler<ListDeliveriesOfReading> {
  constructor(@Inject(POSTGRES) private readonly pool: pg.Pool) {}

  async execute({ readingId }: ListDeliveriesOfReading): Promise<readonly DeliveryOfReading[]> {
    // Joins the reading's events and its workspace's endpoints, which have indexes. Deliveries have no index by
    // reading.
    const { rows } = await this.pool.query<Row>(
      `select delivery.delivery_id as "deliveryId", delivery.endpoint_id as "endpointId", event.event_id as "eventId",
              event.type as "eventType", delivery.status, delivery.attempts, delivery.created_at as "createdAt",
              delivery.settled_at as "settledAt"
       from webhooks.public_event event
       join webhooks.endpoint using (workspace_id)
       join ${ALL_DELIVERIES} on delivery.endpoint_id = endpoint.endpoint_id and delivery.event_id = event.event_id
       where event.reading_id = $1
       order by delivery.created_at, event.sequence, delivery.endpoint_id`,
      [readingId],
    );
    return rows.map(({ createdAt, settledAt, ...row }) => ({
      ...row,
      createdAt: instant(createdAt.getTime()),
      settledAt: settledAt && instant(settledAt.getTime()),
    }));
  }
}
