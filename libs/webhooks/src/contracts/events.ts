import { z } from 'zod';
import { MODES } from '#event-sourcing/core/mode.js';
import { event, eventCatalogue, type EventOf } from '#event-sourcing/core/event-catalogue.js';
import { PUBLIC_EVENT_TYPES } from './event-types.js';
import { NOTICE_TYPES } from './notice-types.js';

const settings = {
  /** Exactly as the caller sent it. */
  url: z.string(),
  events: z.array(z.enum(PUBLIC_EVENT_TYPES)),
  description: z.string().nullable(),
  /** The modes of the readings whose events it receives. */
  modes: z.array(z.enum(MODES)),
  /** The notices that it receives, of the same modes. */
  notices: z.array(z.enum(NOTICE_TYPES)),
  /** Names a row of `webhooks.endpoint_headers`, which holds its sealed custom headers; `null`: it has none. */
  headersRef: z.uuid().nullable(),
  /** Deliveries sent in a second, at most; `null`: no limit of its own. */
  maxPerSecond: z.int().positive().nullable(),
  /** Whether events may be sent: its host was in use before, has answered a probe, or needs none. */
  verified: z.boolean(),
};

/** Why an endpoint was disabled: at the owner's request, after the receiver answered 410, or after failing too long. */
export const DISABLED_REASONS = ['requested', 'gone', 'failing'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/**
 * Stream `webhookEndpoint-<endpointId>`. Contains no secrets: `secretRef` names a row of `webhooks.secret`, which holds
 * the sealed secret, and `headersRef` one of `webhooks.endpoint_headers`.
 */
export const webhookEndpointEvents = eventCatalogue('webhookEndpoint', {
  WebhookEndpointCreated: event(
    1,
    z.strictObject({ workspaceId: z.string(), ...settings, secretRef: z.uuid() }),
  ),
  /** All settings from now on, changed or not. */
  WebhookEndpointUpdated: event(1, z.strictObject(settings)),
  /** The receiver behind `url` answered a probe with 2xx. */
  WebhookEndpointVerified: event(1, z.strictObject({ url: z.string() })),
  /** The previous secret also signs until `previousValidUntil` (RFC 3339). */
  WebhookEndpointSecretRotated: event(
    1,
    z.strictObject({ secretRef: z.uuid(), previousValidUntil: z.string() }),
  ),
  WebhookEndpointDisabled: event(1, z.strictObject({ reason: z.enum(DISABLED_REASONS) })),
  WebhookEndpointEnabled: event(1, z.strictObject({})),
  WebhookEndpointDeleted: event(1, z.strictObject({})),
});

export type WebhookEndpointEvent = EventOf<typeof webhookEndpointEvents>;
