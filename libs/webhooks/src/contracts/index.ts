import { z } from 'zod';
import { MODES, type Mode, type RequestContext } from '#event-sourcing/core/request-context.js';
import { event, eventCatalogue, type EventOf } from '#event-sourcing/core/event-catalogue.js';
import { uuid5 } from '#event-sourcing/core/event-id.js';
import type { StoredEvent } from '#event-sourcing/core/event.js';
import { Command, Query } from '#platform/cqrs/message.js';
import { count, instant, text, uuid } from '#platform/http/openapi/shapes.js';
import type { RetentionRun, RetentionStatus } from '#platform/retention/retention-status.js';

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

export const endpointHealth = z.object({
  state: z
    .enum(['ok', 'failing', 'disabled', 'unverified'])
    .describe('Whether deliveries arrive. `unverified`: they wait until the receiver has answered a probe'),
  failingSince: instant().nullable().describe('The first failure since the last success'),
  disabledReason: z.enum(DISABLED_REASONS).nullable().describe('Why it receives nothing; null while enabled'),
  consecutiveFailures: count().describe('Failed attempts since the last success'),
});

/** An endpoint as callers see it. */
export const endpointRecord = z.object({
  endpointId: text(/^we_[0-9a-f-]{36}$/).describe('Names the endpoint in paths'),
  url: z.string().describe('Where deliveries are sent'),
  events: z.array(z.enum(PUBLIC_EVENT_TYPES)).describe('The event types that it receives'),
  modes: z.array(z.enum(MODES)).describe('Of the readings whose events it receives'),
  notices: z.array(z.enum(NOTICE_TYPES)).describe('What it is told besides events, of the same modes'),
  enabled: z.boolean().describe('Whether deliveries are sent'),
  description: z.string().nullable().describe('As given by you'),
  headerNames: z
    .array(z.string())
    .describe('Names of the custom headers, in lower case; their values are never shown'),
  maxPerSecond: z
    .int()
    .nullable()
    .describe('Deliveries sent in a second, at most; null: no limit of its own'),
  createdAt: instant().describe('When it was created'),
  updatedAt: instant().describe('When it was last changed'),
  health: endpointHealth.describe('Whether its deliveries arrive'),
  secretHint: z.string().describe('The last four characters of the newest secret'),
});
export type WebhookEndpointRecord = z.infer<typeof endpointRecord>;

export interface CreatedWebhookEndpoint extends WebhookEndpointRecord {
  readonly signingSecret: string;
}

export interface ChangedWebhookEndpoint {
  readonly outcome: 'changed';
  readonly record: WebhookEndpointRecord;
  /** Deliveries skipped while it was disabled; `null` unless it was enabled now. */
  readonly skippedDeliveries: number | null;
}

/** Enables an endpoint; sends nothing by itself. */
export class EnableWebhookEndpoint extends Command<ChangedWebhookEndpoint | WebhookRefusal> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
    readonly by: RequestContext,
  ) {
    super();
  }
}

/** The state of an endpoint's queue. */
export const queueHealth = z.object({
  pending: count().describe('Deliveries not settled yet; 100,000 may be more'),
  queueAgeSeconds: z.number().min(0).describe('Time since the oldest due delivery became due'),
  nextAttemptAt: instant().nullable().describe('When the next attempt is due; null: none is'),
  lastSuccessAt: instant()
    .nullable()
    .describe('The last attempt that the receiver accepted. `null`: none in 35 days (by default)'),
  attempts: z
    .record(z.string(), count())
    .describe(
      'Attempts of this hour (UTC) and the 23 before it by outcome: `succeeded`, or the class of failure',
    ),
});
export type QueueHealthRecord = z.infer<typeof queueHealth>;

export interface EndpointHealth extends QueueHealthRecord {
  readonly endpoint: WebhookEndpointRecord;
  readonly workspaceId: string;
  /** Until then (RFC 3339), deliveries also carry the signature of an old secret; `null`: of none. May be past. */
  readonly oldSecretsValidUntil: string | null;
}

/**
 * The endpoints of one workspace, or this one, or (`null`) all, with their health; the longest waiting first. For a
 * workspace, at most 100,000 pending deliveries of each are counted.
 */
export class ListWebhookEndpoints extends Query<readonly EndpointHealth[]> {
  constructor(
    readonly workspaceId: string | null,
    readonly endpointId: string | null = null,
  ) {
    super();
  }
}

export const HOUR_MS = 3_600_000;

/** Of an endpoint's health, and of its stats unless somebody asks for others. */
export const RECENT_HOURS = 24;

/** The beginning of the first of so many whole hours (UTC), of which an instant is in the last (ms since the epoch). */
export const firstHour = (at: number, hours = RECENT_HOURS): number =>
  at - (at % HOUR_MS) - (hours - 1) * HOUR_MS;

const figures = {
  attempts: z
    .record(z.string(), count())
    .describe('Attempts by outcome: `succeeded`, or the class of failure'),
  latencyMs: z
    .object({
      p50: count().describe('Half of them took at most so long'),
      p95: count().describe('95 % of them'),
      p99: count().describe('99 % of them'),
    })
    .nullable()
    .describe('How long successful attempts took, in milliseconds; null: none succeeded'),
};
export type AttemptFigures = z.infer<z.ZodObject<typeof figures>>;

export const endpointStats = z.object({
  hours: z
    .array(z.object({ hour: instant().describe('Its beginning'), ...figures }))
    .describe('Hours with attempts, oldest first'),
  total: z.object(figures).describe('All hours together'),
});
export type EndpointStats = z.infer<typeof endpointStats>;

/** The attempts of the hours that begin from `since` and before `until` (RFC 3339). */
export class GetEndpointStats extends Query<EndpointStats> {
  constructor(
    readonly endpointId: string,
    readonly since: string,
    readonly until: string,
  ) {
    super();
  }
}

/** What is known of the probes of an endpoint that is not verified. */
export interface VerificationRecord {
  /** Since when it waits (RFC 3339). */
  readonly askedAt: string;
  readonly attempts: number;
  /** When the next probe is due (RFC 3339). */
  readonly nextProbeAt: string;
  /** Class of failure of the last probe; `null`: none has failed. */
  readonly lastError: string | null;
}

/** The probes of an endpoint; `null`: it needs none. */
export class FindVerification extends Query<VerificationRecord | null> {
  constructor(readonly endpointId: string) {
    super();
  }
}

/** How many signing secrets and custom headers each key-encryption key sealed, by the key's id. */
export class CountSecretsByKey extends Query<ReadonlyMap<string, number>> {}

export interface RewrappedSecrets {
  readonly rewrapped: number;
  /** References of those that no configured key opens. They stay unchanged. */
  readonly unopened: readonly string[];
}

/** Seals signing secrets and custom headers with the current key-encryption key if another one sealed them. */
export class RewrapSecrets extends Command<RewrappedSecrets> {
  /** @param onProgress receives the number processed so far, of secrets and then of headers */
  constructor(readonly onProgress: (seen: number) => void = () => undefined) {
    super();
  }
}

/** The stored status of a delivery. `pending` until it is settled; the others are final. */
export const DELIVERY_STATUSES = ['pending', 'succeeded', 'exhausted', 'skipped'] as const;
export type DeliveryStatus = (typeof DELIVERY_STATUSES)[number];

/** The delivery of one event of a reading to one endpoint. Instants are RFC 3339 UTC. */
export interface DeliveryOfReading {
  readonly deliveryId: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: string;
  readonly status: DeliveryStatus;
  readonly attempts: number;
  readonly createdAt: string;
  readonly settledAt: string | null;
}

/** The deliveries of a reading, oldest first, without those deleted after their retention. */
export class ListDeliveriesOfReading extends Query<readonly DeliveryOfReading[]> {
  constructor(readonly readingId: string) {
    super();
  }
}

/** An attempt with what the receiver answered, as far as it is stored and can be opened. */
export interface AnsweredAttemptRecord {
  readonly number: number;
  readonly startedAt: string;
  readonly durationMs: number;
  readonly statusCode: number | null;
  /** Class of failure; `null`: it succeeded. */
  readonly error: string | null;
  /** First bytes as UTF-8. `null`: a success, no response, a notice, an erased reading, or a later attempt followed. */
  readonly answer: string | null;
}

/** A delivery with its attempts, for operators. */
export interface AnsweredDelivery extends DeliveryOfReading {
  readonly workspaceId: string;
  readonly readingId: string | null;
  readonly history: readonly AnsweredAttemptRecord[];
}

/** One delivery with responses to failed attempts: to all while pending, then to the last. `null`: none. @throws KeysUnavailable */
export class FindAnsweredDelivery extends Query<AnsweredDelivery | null> {
  constructor(readonly deliveryId: string) {
    super();
  }
}

/**
 * Writes the deliveries settled before an instant, one JSON object a line (UTF-8), from one snapshot: ids, type, status, times
 * and every attempt, without bodies and without receivers' answers. They are in no order. Returns their number.
 */
export class ExportDeliveries extends Query<number> {
  /** @param until RFC 3339, exclusive @param write called with whole or part lines */
  constructor(
    readonly until: string,
    readonly write: (part: Buffer) => void,
  ) {
    super();
  }
}

/** An event or a notice as it is stored. */
export interface ToldEvent {
  /** Its place in the feed of its kind, in decimal; `null` for a trial, which is in no feed. */
  readonly position: string | null;
  /** JSON: what deliveries carry, but for the external id. */
  readonly body: string;
  /** `null` for a notice. */
  readonly readingId: string | null;
  /** Deliveries carry the external id of its reading as the last member, which `GetExternalId` of the readings tells. */
  readonly showsExternalId: boolean;
}

/** Events of a workspace, or its notices, newest first. The feed of the API has the same ones, oldest first. */
export class ListNewestEvents extends Query<readonly ToldEvent[]> {
  constructor(
    readonly workspaceId: string,
    readonly mode: Mode,
    /** Of events, or of notices: each kind has an order of its own. At least one. */
    readonly types: readonly DeliveredType[],
    readonly limit: number,
    /** Only those with an earlier position, in decimal; `null`: from the newest. */
    readonly before: string | null,
  ) {
    super();
  }
}

/** An event or notice of this workspace and mode, or a trial of the workspace, which is in no feed; `null`: there is none. */
export class FindToldEvent extends Query<ToldEvent | null> {
  constructor(
    readonly workspaceId: string,
    readonly mode: Mode,
    readonly eventId: string,
  ) {
    super();
  }
}

/** The outcome of an event at an endpoint, over all its deliveries there. `missing`: it has none. */
export const REPLAYABLE_STATUSES = ['missing', 'skipped', 'exhausted', 'succeeded'] as const;
export type ReplayableStatus = (typeof REPLAYABLE_STATUSES)[number];

/** The default statuses of a replay: events that the receiver did not get. */
export const UNDELIVERED_STATUSES: readonly ReplayableStatus[] = ['missing', 'skipped', 'exhausted'];

/** A replay as callers see it. */
export const replayRecord = z.object({
  replayId: uuid().describe('Names the replay in paths'),
  endpointId: text(/^we_[0-9a-f-]{36}$/).describe('The endpoint that receives the events'),
  since: instant().describe('The earliest events, inclusive'),
  until: instant().describe('The latest events, exclusive'),
  types: z.array(z.enum(PUBLIC_EVENT_TYPES)).describe('The event types to send'),
  statuses: z
    .array(z.enum(REPLAYABLE_STATUSES))
    .describe('What became of the events at this endpoint before'),
  modes: z.array(z.enum(MODES)).describe('Of the readings whose events it sends'),
  dryRun: z.boolean().describe('Whether it only counts'),
  state: z
    .enum(['queued', 'running', 'finished', 'stopped'])
    .describe(
      '`stopped`: by request, after a day without progress, or because the endpoint was disabled or deleted',
    ),
  events: count().describe('Events selected so far; final once the replay has finished'),
  progress: z.number().min(0).max(1).describe('Share of the log that has been read'),
  deliveries: z
    .object({
      pending: count().describe('Not settled yet'),
      succeeded: count().describe('Accepted by the receiver'),
      exhausted: count().describe('Given up after the last attempt'),
      skipped: count().describe('Not sent, because the endpoint was disabled'),
    })
    .describe('Deliveries of these events by status; all zero in a dry run'),
  createdAt: instant().describe('When it was requested'),
  finishedAt: instant().nullable().describe('When it finished or stopped'),
});
export type ReplayRecord = z.infer<typeof replayRecord>;

/**
 * Sends past events of the workspace to an endpoint, in log order, whether or not the endpoint existed then. `until`
 * null: now. `types` null: those the endpoint subscribes to. `statuses` null: UNDELIVERED_STATUSES. One replay per
 * endpoint runs at a time. Dry runs do not count, and a few may wait beside it.
 */
export class ReplayEvents extends Command<
  { readonly outcome: 'queued' | 'repeated'; readonly record: ReplayRecord } | WebhookRefusal
> {
  constructor(
    readonly endpointId: string,
    readonly workspaceId: string,
    readonly choice: {
      readonly since: string;
      readonly until: string | null;
      readonly types: readonly PublicEventType[] | null;
      readonly statuses: readonly ReplayableStatus[] | null;
      /** The endpoint's own, as far as these include them; `null`: all of them. */
      readonly modes: readonly Mode[] | null;
      readonly dryRun: boolean;
    },
    /** Repeated, it gets the first answer, with the outcome `repeated`. */
    readonly idempotencyKey: string | null,
    /** Throws when the credentials of the request have ended while it waited. */
    readonly stands?: () => Promise<void>,
  ) {
    super();
  }
}

/** A replay of this endpoint; `null` when there is none with this id. */
export class GetReplay extends Query<ReplayRecord | null> {
  constructor(
    readonly endpointId: string,
    readonly replayId: string,
  ) {
    super();
  }
}

/** What of webhooks ends after a term: what is kept, and what is due. */
export class LookAtWebhookRetention extends Query<readonly RetentionStatus[]> {
  constructor(readonly now: number) {
    super();
  }
}

/** Makes one round now, as the workers do. Workers may make one at the same time. */
export class RunWebhookRetention extends Command<readonly RetentionRun[]> {
  /** @param now milliseconds since the epoch, of a clock that is trusted @param kinds `null`: all */
  constructor(
    readonly now: number,
    readonly kinds: readonly string[] | null,
  ) {
    super();
  }
}

/** Every refusal of a webhook command: a command that is refused has changed nothing. */
export type WebhookRefusal =
  /** There is no such endpoint (any more), or it belongs to another workspace. */
  | { readonly outcome: 'webhook_not_found' | 'wrong_workspace' }
  /** The endpoint also receives live events, and the caller sees test alone. */
  | { readonly outcome: 'mode_not_allowed' }
  /** The endpoint is not at the revision that the caller requires. */
  | { readonly outcome: 'endpoint_changed' }
  /** `detail` continues a sentence that begins with the URL, and repeats no value. */
  | { readonly outcome: 'invalid_webhook_url' | 'webhook_url_blocked'; readonly detail: string }
  /** The URL moves to another host, port or scheme, and not all custom headers were sent again or removed. */
  | { readonly outcome: 'headers_required' }
  /** The endpoint, its workspace or its queue of trials would have more than `limit`. */
  | {
      readonly outcome: 'too_many_headers' | 'endpoint_limit_reached' | 'too_many_test_events';
      readonly limit: number;
    }
  /** The test reading that a trial is about cannot be had now. */
  | { readonly outcome: 'not_ready' | 'billing_misconfigured' }
  | { readonly outcome: 'insufficient_credits'; readonly required: number; readonly available: number }
  /** `different_request`: another one came under the idempotency key. */
  | {
      readonly outcome: 'delivery_not_found' | 'replay_not_found' | 'endpoint_disabled' | 'different_request';
    }
  | NoLongerKept
  /** `replayId` must end first. */
  | { readonly outcome: 'replay_in_progress'; readonly endpointId: string; readonly replayId: string };

/** Deleted after its term, or never there. `keptSince` (RFC 3339): all since then is kept. `field`: the pointer that asks for more. */
export interface NoLongerKept {
  readonly outcome: 'no_longer_kept';
  readonly keptSince: string;
  readonly field: string | null;
}
