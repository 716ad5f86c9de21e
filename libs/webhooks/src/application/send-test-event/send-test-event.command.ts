import { Command } from '@app/platform/cqrs/message.js';
import type { PublicEventType } from '../../contracts/event-types.js';
import type { EndpointRefusal, TooManyTestEvents } from '../../contracts/refusals.js';
import type { DeliveryRecord } from '../../read-models/delivery/delivery-rows.js';

export type SendTestEventResult =
  | { readonly outcome: 'queued'; readonly delivery: DeliveryRecord }
  | EndpointRefusal
  | TooManyTestEvents;

/** Sends an endpoint an event about a reading that does not exist. */
export class SendTestEvent extends Command<SendTestEventResult> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
    readonly type: PublicEventType,
  ) {
    super();
  }
}
