import { describe, it } from '@jest/globals';
import { given } from '#event-sourcing/testing/projection-spec.js';
import { recorded } from '#event-sourcing/testing/recorded.js';
import { webhookEndpointEvents, type WebhookEndpointEvent } from './contracts/events.js';
import { endpointProjection } from './projections.js';

const ID = 'we_1';
const FIRST = '0d9a4d0e-6a53-4a41-9b8e-2f6a3f3c1b70';
const at = (second: number): string => `2026-04-12T10:00:0${second}.000Z`;
const happened = (second: number, event: WebhookEndpointEvent) =>
  recorded(`webhookEndpoint-${ID}`, event, {
    revision: BigInt(second),
    metadata: {
      occurredAt: at(second),
      schemaVersion: webhookEndpointEvents.definitions[event.type].version,
    },
  });

const created = happened(0, {
  type: 'WebhookEndpointCreated',
  data: {
    workspaceId: 'ws_1',
    url: 'https://example.com/hook',
    events: ['reading.completed'],
    modes: ['live'],
    notices: ['batch.ended'],
    description: null,
    headersRef: FIRST,
    maxPerSecond: 20,
    verified: false,
    secretRef: FIRST,
  },
});
const row = {
  endpoint_id: ID,
  workspace_id: 'ws_1',
  url: 'https://example.com/hook',
  events: ['reading.completed'],
  modes: ['live'],
  notices: ['batch.ended'],
  description: null,
  headers_ref: FIRST,
  max_per_second: 20,
  verified: false,
  enabled: true,
  disabled_reason: null,
  disabled_at: null,
  secrets: [{ ref: FIRST, validUntil: null }],
  revision: '0',
  created_at: at(0),
  updated_at: at(0),
  deleted_at: null,
};

describe('the row of an endpoint', () => {
  it('has the settings it was created with, and follows it through being disabled, enabled and deleted', () => {
    given(endpointProjection, [created]).thenRows({ 'webhooks.endpoint': [row] });
    const disabled = happened(1, { type: 'WebhookEndpointDisabled', data: { reason: 'gone' } });
    const enabled = happened(2, { type: 'WebhookEndpointEnabled', data: {} });
    const deleted = happened(3, { type: 'WebhookEndpointDeleted', data: {} });
    given(endpointProjection, [created, disabled]).thenRows({
      'webhooks.endpoint': [
        {
          ...row,
          enabled: false,
          disabled_reason: 'gone',
          disabled_at: at(1),
          revision: '1',
          updated_at: at(1),
        },
      ],
    });
    given(endpointProjection, [created, disabled, enabled]).thenRows({
      'webhooks.endpoint': [{ ...row, revision: '2', updated_at: at(2) }],
    });
    given(endpointProjection, [created, disabled, enabled, deleted]).thenRows({
      'webhooks.endpoint': [
        { ...row, enabled: false, secrets: [], revision: '3', updated_at: at(3), deleted_at: at(3) },
      ],
    });
  });

  it('is the same when events are repeated', () => {
    const disabled = happened(1, { type: 'WebhookEndpointDisabled', data: { reason: 'requested' } });
    const enabled = happened(2, { type: 'WebhookEndpointEnabled', data: {} });
    given(endpointProjection, [created, disabled, enabled, created, disabled]).thenRows({
      'webhooks.endpoint': [{ ...row, revision: '2', updated_at: at(2) }],
    });
  });
});
