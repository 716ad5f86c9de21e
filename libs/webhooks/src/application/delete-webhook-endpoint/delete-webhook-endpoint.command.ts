import { Command } from '@app/platform/cqrs/message.js';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';

/** Permanently deletes an endpoint. Fails with webhook_not_found, wrong_workspace, precondition_failed. */
export class DeleteWebhookEndpoint extends Command<void> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
    readonly ifRevision: readonly bigint[] | null,
    readonly by: RequestContext,
  ) {
    super();
  }
}
