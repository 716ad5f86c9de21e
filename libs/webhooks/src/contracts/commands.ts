import { Command } from '@app/platform/cqrs/message.js';
import type { RequestContext } from '@app/event-sourcing/core/request-context.js';
import type { PublicEventType } from './event-types.js';
import type { WebhookEndpointRecord } from './endpoint-record.js';

export interface CreatedWebhookEndpoint extends WebhookEndpointRecord {
  /** Shown only this once. */
  readonly signingSecret: string;
  /** `unresolvable`: the host has no address yet. */
  readonly warnings: readonly 'unresolvable'[];
}

/**
 * Creates an endpoint. `events` null subscribes to all.
 * Fails with WebhookRefused: invalid_webhook_url, webhook_url_blocked, endpoint_limit_reached.
 */
export class CreateWebhookEndpoint extends Command<CreatedWebhookEndpoint> {
  constructor(
    readonly workspaceId: string,
    readonly url: string,
    readonly events: readonly PublicEventType[] | null,
    readonly description: string | null,
    readonly by: RequestContext,
  ) {
    super();
  }
}

export interface EnabledWebhookEndpoint {
  readonly record: WebhookEndpointRecord;
  /** Deliveries skipped while it was disabled; `null` when it was already enabled. */
  readonly skippedDeliveries: number | null;
}

/** Enables an endpoint. Sends nothing by itself. Fails with WebhookRefused: webhook_not_found, wrong_workspace. */
export class EnableWebhookEndpoint extends Command<EnabledWebhookEndpoint> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}
