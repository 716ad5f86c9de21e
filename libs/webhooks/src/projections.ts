import { selectEvents, type EventOf } from '#event-sourcing/core/event-catalogue.js';
import type { Recorded } from '#event-sourcing/core/event.js';
import { streamId } from '#event-sourcing/core/stream-name.js';
import { defineProjection, type Projection } from '#event-sourcing/projections/projection.js';
import { view } from '#event-sourcing/projections/view.js';
import { workspaceEvents } from '#workspaces/contracts/index.js';
import { assertNever } from '#event-sourcing/core/decider.js';
import { webhookEndpointEvents, type DisabledReason, type WebhookEndpointEvent } from './contracts/index.js';
import { rotated, type EndpointSecret } from './domain/webhook-endpoint.decider.js';

const choices = selectEvents(workspaceEvents, 'WebhookContentChosen');

/** No row: the workspace has chosen nothing. */
interface ContentRow {
  readonly workspace_id: string;
  readonly external_id: boolean;
  readonly low_credits_percent: number;
}

const contents = view<ContentRow, Recorded<EventOf<typeof choices>>>({
  table: 'webhooks.content',
  key: ['workspace_id'],
  keyOf: ({ stream }) => ({ workspace_id: streamId(stream) }),
  evolve: (_, { stream, data }) => ({
    workspace_id: streamId(stream),
    external_id: data.externalId,
    low_credits_percent: data.lowCreditsPercent,
  }),
});

/** What the webhooks of each workspace tell. The fan-out reads it for each new event, the notices at each look. */
export const contentProjection = defineProjection({
  name: 'webhooks.content.v1',
  catalogues: [choices],
  views: [contents],
});

interface EndpointRow {
  readonly endpoint_id: string;
  readonly workspace_id: string;
  readonly url: string;
  readonly events: readonly string[];
  readonly modes: readonly string[];
  readonly notices: readonly string[];
  readonly description: string | null;
  readonly headers_ref: string | null;
  readonly max_per_second: number | null;
  readonly verified: boolean;
  readonly enabled: boolean;
  readonly disabled_reason: DisabledReason | null;
  readonly disabled_at: string | null;
  readonly secrets: readonly EndpointSecret[];
  readonly revision: string;
  readonly created_at: string;
  readonly updated_at: string;
  readonly deleted_at: string | null;
}

const evolve = (row: EndpointRow | null, event: Recorded<WebhookEndpointEvent>): EndpointRow | null => {
  const at = event.metadata.occurredAt;
  if (event.type === 'WebhookEndpointCreated') return row ?? created(event);
  if (row === null || BigInt(row.revision) >= event.revision) return row;
  const next: EndpointRow = { ...row, revision: String(event.revision), updated_at: at };
  switch (event.type) {
    case 'WebhookEndpointUpdated': {
      const { headersRef, maxPerSecond, ...settings } = event.data;
      return { ...next, ...settings, headers_ref: headersRef, max_per_second: maxPerSecond };
    }
    case 'WebhookEndpointVerified':
      return { ...next, verified: true };
    case 'WebhookEndpointSecretRotated':
      return { ...next, secrets: rotated(row.secrets, event.data) };
    case 'WebhookEndpointDisabled':
      return { ...next, enabled: false, disabled_reason: event.data.reason, disabled_at: at };
    case 'WebhookEndpointEnabled':
      return { ...next, enabled: true, disabled_reason: null, disabled_at: null };
    case 'WebhookEndpointDeleted':
      return { ...next, enabled: false, secrets: [], deleted_at: at };
    default:
      return assertNever(event);
  }
};

const created = ({
  stream,
  revision,
  data: { workspaceId, headersRef, maxPerSecond, secretRef, ...settings },
  metadata: { occurredAt },
}: Extract<Recorded<WebhookEndpointEvent>, { type: 'WebhookEndpointCreated' }>): EndpointRow => ({
  endpoint_id: streamId(stream),
  workspace_id: workspaceId,
  ...settings,
  headers_ref: headersRef,
  max_per_second: maxPerSecond,
  enabled: true,
  disabled_reason: null,
  disabled_at: null,
  secrets: [{ ref: secretRef, validUntil: null }],
  revision: String(revision),
  created_at: occurredAt,
  updated_at: occurredAt,
  deleted_at: null,
});

export const endpoints = view<EndpointRow, Recorded<WebhookEndpointEvent>>({
  table: 'webhooks.endpoint',
  key: ['endpoint_id'],
  keyOf: ({ stream }) => ({ endpoint_id: streamId(stream) }),
  evolve,
});

/** Webhook endpoints. The fan-out updates them, because it needs their state at each event. */
const endpointProjection = defineProjection({
  name: 'webhooks.endpoint.v1',
  keptBy: 'webhooks.fanout.v1',
  catalogues: [webhookEndpointEvents],
  views: [endpoints],
});

/** For the operator, who may rebuild them, and the worker. The fan-out keeps that of endpoints. Loads no framework. */
export const webhooksProjections: readonly Projection[] = [endpointProjection, contentProjection];
