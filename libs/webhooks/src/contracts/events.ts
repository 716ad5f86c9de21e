import { z } from 'zod';
import { MODES } from '#event-sourcing/core/request-context.js';
import { event, eventCatalogue, type EventOf } from '#event-sourcing/core/event-catalogue.js';
import { uuid5 } from '#event-sourcing/core/event-id.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';

/** Event types that an endpoint may subscribe to, and the values of `x-service-event`: a closed set. */
export const PUBLIC_EVENT_TYPES = [
  'reading.completed',
  'reading.published',
  'reading.failed',
  'reading.delayed',
] as const;

export type PublicEventType = (typeof PUBLIC_EVENT_TYPES)[number];

/** What an endpoint may also ask for, and values of `x-service-notice`: a closed set, apart from that of `x-service-event`. */
export const NOTICE_TYPES = [
  'batch.ended',
  'credits.expiring',
  'credits.low',
  'endpoint.disabled',
  'endpoint.failing',
  'key.expiring',
  'replay.finished',
] as const;

export type NoticeType = (typeof NOTICE_TYPES)[number];

/** The probe of an endpoint that is not verified yet: the other value of `x-service-notice`. It is sent unasked. */
export const VERIFICATION_NOTICE = 'endpoint.verification' as const;

export type DeliveredType = PublicEventType | NoticeType;

/** Whether an endpoint may ask for it. */
export const isNotice = (type: string): type is NoticeType => NOTICE_TYPES.some((one) => one === type);

const settings = {
  /** Exactly as the caller sent it. */
  url: z.string(),
  events: z.array(z.enum(PUBLIC_EVENT_TYPES)),
  description: z.string().nullable(),
  modes: z.array(z.enum(MODES)),
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

/** Stream `webhookEndpoint-<endpointId>`. No secrets: refs name rows of `webhooks.secret` and `webhooks.endpoint_headers`. */
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

/** The id of the public event of this type that tells of a stored one (docs/adr/0009-ids-made-of-facts.md). */
export const publicEventId = (
  { stream, revision }: Pick<StoredEvent, 'stream' | 'revision'>,
  type: PublicEventType,
): string => `evt_${uuid5(stream, String(revision), type)}`;
