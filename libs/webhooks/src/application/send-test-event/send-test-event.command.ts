import { Command } from '#platform/cqrs/message.js';
import type { Mode } from '#event-sourcing/core/mode.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import type { PublicEventType } from '../../contracts/event-types.js';
import type { EndpointRefusal, TooManyTestEvents, TrialRefusal } from '../../contracts/refusals.js';
import type { DeliveryRecord } from '../../read-models/delivery/delivery-rows.js';

export type SendTestEventResult =
  | { readonly outcome: 'queued'; readonly delivery: DeliveryRecord }
  | EndpointRefusal
  | TooManyTestEvents
  | TrialRefusal;

/** Sends an endpoint a trial: an event about a test reading, which is made if the workspace has none. */
export class SendTestEvent extends Command<SendTestEventResult> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
    /** The modes that the caller sees. Without test, the external id of the reading is not shown. */
    readonly sees: readonly Mode[],
    readonly type: PublicEventType,
    readonly by: RequestContext,
  ) {
    super();
  }
}
