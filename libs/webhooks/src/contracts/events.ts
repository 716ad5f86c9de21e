import { z } from 'zod';
import { MODES } from '@app/event-sourcing/core/mode.js';
import {
  byWorkspace,
  event,
  eventCatalogue,
  type EventOf,
  type Upcaster,
} from '@app/event-sourcing/core/event-catalogue.js';
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
};

/** Upgrades events from before test mode: their endpoints receive live events. */
const live: Upcaster = (data) => ({ ...(data as object), modes: ['live'] });
/** Upgrades events from before notices. */
const unasked: Upcaster = (data) => ({ ...(data as object), notices: [] });

/** Why an endpoint was disabled: at the owner's request, after the receiver answered 410, or after failing too long. */
export const DISABLED_REASONS = ['requested', 'gone', 'failing'] as const;
export type DisabledReason = (typeof DISABLED_REASONS)[number];

/**
 * Stream `webhookEndpoint-<endpointId>`. Contains no secrets: `secretRef` names a row of `webhooks.secret`, which holds
 * the sealed secret.
 */
export const webhookEndpointEvents = eventCatalogue('webhookEndpoint', {
  WebhookEndpointCreated: event(
    3,
    z.strictObject({ workspaceId: z.string(), ...settings, secretRef: z.uuid() }),
    { 1: live, 2: unasked },
  ),
  /** All settings from now on, changed or not. */
  WebhookEndpointUpdated: event(3, z.strictObject(settings), { 1: live, 2: unasked }),
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

/** Stream `webhookContent-<workspaceId>`: what the webhook bodies of a workspace show. */
export const webhookContentEvents = eventCatalogue(byWorkspace('webhookContent'), {
  /** `externalId`: whether bodies made from now on show the external ids of readings. They do until it says no. */
  WebhookContentChosen: event(1, z.strictObject({ externalId: z.boolean() })),
});

export type WebhookContentEvent = EventOf<typeof webhookContentEvents>;
