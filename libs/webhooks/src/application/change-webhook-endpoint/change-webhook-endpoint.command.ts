import { Command } from '@app/platform/cqrs/message.js';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';
import type { EndpointChanges } from '../../domain/webhook-endpoint/webhook-endpoint.commands.js';
import type { KnownEndpoint } from '../endpoint-access.js';

export interface ChangedEndpoint extends KnownEndpoint {
  /** Deliveries skipped while the endpoint was disabled; `null` unless this change enabled it. */
  readonly skippedDeliveries: number | null;
}

/**
 * Changes an endpoint's settings.
 * Fails with WebhookRefused: webhook_not_found, wrong_workspace, invalid_webhook_url, webhook_url_blocked,
 * precondition_failed.
 */
export class ChangeWebhookEndpoint extends Command<ChangedEndpoint> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
    readonly changes: EndpointChanges,
    /** Revisions at which the caller allows the change; `null`: any. */
    readonly ifRevision: readonly bigint[] | null,
    readonly by: RequestContext,
  ) {
    super();
  }
}
