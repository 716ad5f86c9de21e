import type { Mode } from '#event-sourcing/core/mode.js';
import { Command } from '#platform/cqrs/message.js';
import type { DeliveryNotFound, EndpointRefusal, NoLongerKept } from '../../contracts/refusals.js';
import type { DeliveryRecord } from '../../read-models/delivery/delivery-rows.js';

/** `delivery` is the redelivery: a new one, or the one that was already waiting. */
export type RedeliverResult =
  | { readonly outcome: 'queued'; readonly delivery: DeliveryRecord }
  | EndpointRefusal
  | DeliveryNotFound
  | NoLongerKept;

/** Sends the event of a delivery once more. A redelivery that is already waiting is sent at once instead. */
export class Redeliver extends Command<RedeliverResult> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
    readonly deliveryId: string,
    /** The modes of the events that the caller may send again. */
    readonly sees: readonly Mode[],
  ) {
    super();
  }
}
