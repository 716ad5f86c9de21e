import { Command } from '@app/platform/cqrs/message.js';
import type { PublicEventType } from '../../contracts/event-types.js';
import type { DeliveryRecord } from '../../read-models/delivery/delivery-rows.js';

/**
 * Sends an endpoint an event about a reading that does not exist. Fails with webhook_not_found, wrong_workspace,
 * rate_limited (the most allowed are waiting).
 */
export class SendTestEvent extends Command<DeliveryRecord> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
    readonly type: PublicEventType,
  ) {
    super();
  }
}
