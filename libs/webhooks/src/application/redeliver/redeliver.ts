import { Command } from '@nestjs/cqrs';
import type { DeliveryRecord } from '../../read-models/delivery/delivery-rows.js';

/** Sends the event of a delivery once more. Fails with webhook_not_found, wrong_workspace, delivery_not_found. */
export class Redeliver extends Command<DeliveryRecord> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
    readonly deliveryId: string,
  ) {
    super();
  }
}
