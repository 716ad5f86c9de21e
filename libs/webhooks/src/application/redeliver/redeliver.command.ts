import { Command } from '@app/platform/cqrs/message.js';
import type { DeliveryRecord } from '../../read-models/delivery/delivery-rows.js';

/**
 * Sends the event of a delivery once more. A redelivery of the event that is on its way is that one, and is sent at once.
 * Fails with webhook_not_found, wrong_workspace, delivery_not_found.
 */
export class Redeliver extends Command<DeliveryRecord> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
    readonly deliveryId: string,
  ) {
    super();
  }
}
