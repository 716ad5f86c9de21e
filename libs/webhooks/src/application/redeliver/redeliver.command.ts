import { Command } from '@app/platform/cqrs/message.js';
import type { DeliveryRecord } from '../../read-models/delivery/delivery-rows.js';

/**
 * Sends the event of a delivery once more. If a redelivery of the event is pending already, returns that one and makes
 * it due at once. Fails with webhook_not_found, wrong_workspace, delivery_not_found.
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
