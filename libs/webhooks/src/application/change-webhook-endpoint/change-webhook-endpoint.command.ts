import { Command } from '#platform/cqrs/message.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import type { WebhookEndpointRecord } from '../../contracts/endpoint-record.js';
import type { ChangeRefusal } from '../../contracts/refusals.js';
import type { HeadersPatch } from '../../domain/headers/custom-headers.js';
import type { EndpointChanges } from '../../domain/webhook-endpoint/webhook-endpoint.commands.js';

export interface ChangedEndpoint {
  readonly outcome: 'changed';
  readonly record: WebhookEndpointRecord;
  readonly revision: bigint;
  /** Deliveries skipped while the endpoint was disabled; `null` unless it was enabled now. */
  readonly skippedDeliveries: number | null;
}

/** What an owner may change. An omitted member stays unchanged; `headers` are merged. */
export interface AskedChanges extends Omit<EndpointChanges, 'headersRef' | 'verified'> {
  readonly headers?: HeadersPatch;
}

/** Changes an endpoint's settings. */
export class ChangeWebhookEndpoint extends Command<ChangedEndpoint | ChangeRefusal> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
    readonly changes: AskedChanges,
    /** Revisions at which the caller allows the change; `null`: any. */
    readonly ifRevision: readonly bigint[] | null,
    readonly by: RequestContext,
  ) {
    super();
  }
}
