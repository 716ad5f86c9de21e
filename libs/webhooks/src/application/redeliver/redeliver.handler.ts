import { randomUUID } from 'node:crypto';
import { Inject } from '@nestjs/common';
import { CommandHandler, type ICommandHandler } from '@nestjs/cqrs';
import type pg from 'pg';
import { instant, type Clock } from '@app/event-sourcing/core/clock.js';
import { POSTGRES } from '@app/platform/postgres/pool.js';
import { CLOCK } from '@app/platform/tokens.js';
import { WebhookRefused } from '../../contracts/errors.js';
import { DeliveryRows, type DeliveryRecord } from '../../read-models/delivery/delivery-rows.js';
import { EndpointAccess } from '../endpoint-access.js';
import { OPEN_ENDPOINT } from '../open-endpoint.js';
import { Redeliver } from './redeliver.js';

@CommandHandler(Redeliver)
export class RedeliverHandler implements ICommandHandler<Redeliver> {
  constructor(
    private readonly access: EndpointAccess,
    private readonly deliveries: DeliveryRows,
    @Inject(POSTGRES) private readonly pool: pg.Pool,
    @Inject(CLOCK) private readonly clock: Clock,
  ) {}

  async execute({ endpointId, workspaceId, deliveryId }: Redeliver): Promise<DeliveryRecord> {
    const { record } = await this.access.require(endpointId, workspaceId);
    if (!(await this.deliveries.find(endpointId, deliveryId))) throw new WebhookRefused('delivery_not_found');
    const again = randomUUID();
    await this.pool.query(
      `with ${OPEN_ENDPOINT}, added as (
         insert into webhooks.delivery (delivery_id, endpoint_id, workspace_id, event_id, reading_id, sequence, status,
                                        due_at, test, redelivery, created_at, settled_at)
         select $5, endpoint_id, workspace_id, event_id, reading_id, sequence, case when is_open then 'pending' else 'skipped' end,
                $4::timestamptz, test, true, $4::timestamptz, case when is_open then null else $4::timestamptz end
         from webhooks.delivery cross join open_endpoint where delivery_id = $3
       )
       select pg_notify('webhooks_due', '')`,
      [endpointId, record.enabled, deliveryId, instant(this.clock.now()), again],
    );
    return (await this.deliveries.find(endpointId, again))!;
  }
}
