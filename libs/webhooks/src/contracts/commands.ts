import { Command } from '#platform/cqrs/message.js';
import type { Mode } from '#event-sourcing/core/mode.js';
import type { RequestContext } from '#event-sourcing/core/request-context.js';
import type { PublicEventType } from './event-types.js';
import type { NoticeType } from './notice-types.js';
import type { WebhookEndpointRecord } from './endpoint-record.js';
import type { ChangeRefusal, EndpointLimitReached, UrlRefusal } from './refusals.js';

export interface CreatedWebhookEndpoint extends WebhookEndpointRecord {
  /** Shown only this once. */
  readonly signingSecret: string;
}

export type CreateEndpointResult =
  | { readonly outcome: 'created'; readonly endpoint: CreatedWebhookEndpoint }
  | UrlRefusal
  | EndpointLimitReached;

/** What a new endpoint is to receive, and how. */
export interface EndpointChoice {
  readonly url: string;
  /** `null` subscribes to all. */
  readonly events: readonly PublicEventType[] | null;
  /** Of the readings whose events it receives, and of its notices. */
  readonly modes: readonly Mode[];
  readonly notices?: readonly NoticeType[];
  readonly description?: string | null;
  /** Sent with each delivery, values by name; stored sealed. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Deliveries sent in a second, at most. */
  readonly maxPerSecond?: number | null;
}

/** Creates an endpoint. */
export class CreateWebhookEndpoint extends Command<CreateEndpointResult> {
  constructor(
    readonly workspaceId: string,
    readonly choice: EndpointChoice,
    readonly by: RequestContext,
  ) {
    super();
  }
}

export interface EnabledWebhookEndpoint {
  readonly outcome: 'enabled';
  readonly record: WebhookEndpointRecord;
  /** Deliveries skipped while it was disabled; `null` when it was already enabled. */
  readonly skippedDeliveries: number | null;
}

/** Enables an endpoint; sends nothing by itself. */
export class EnableWebhookEndpoint extends Command<EnabledWebhookEndpoint | ChangeRefusal> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}
