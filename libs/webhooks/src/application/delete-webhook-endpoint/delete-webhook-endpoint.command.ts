import { Command } from '#platform/cqrs/message.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import type { RefusedByEndpoint } from '../../contracts/refusals.js';

export type DeleteEndpointResult = { readonly outcome: 'deleted' } | RefusedByEndpoint;

/** Deletes an endpoint for good. */
export class DeleteWebhookEndpoint extends Command<DeleteEndpointResult> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
    readonly ifRevision: readonly bigint[] | null,
    readonly by: RequestContext,
  ) {
    super();
  }
}
